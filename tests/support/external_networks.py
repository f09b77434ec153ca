"""Small networks with parts for external code generators."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from microgen import relay


def convolution(channels: int = 4, size: int = 8) -> relay.IRModule:
    """A convolution, a bias and a relu, with constant weights."""
    rng = np.random.default_rng(5)
    x = relay.var("x", shape=(1, channels, size, size), dtype="float32")
    kernel = rng.standard_normal((channels, channels, 3, 3)).astype(np.float32)
    bias = rng.standard_normal(channels).astype(np.float32)
    made = relay.nn.conv2d(x, relay.const(kernel), padding=(1, 1))
    made = relay.nn.relu(relay.nn.bias_add(made, relay.const(bias)))
    return relay.IRModule.from_expr(relay.Function([x], made))


TOY = str(Path(__file__).parents[1] / "toy_codegen")  # the folder for --codegen-path
