"""A network with something for each codegen, and something that no codegen takes."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from microgen import relay
from microgen.project.firmware.compiled import Compiled
from microgen.relay import IRModule

# examplejsoncompiler comes first, because the others take everything that it takes.
CODEGENS = ("examplejsoncompiler", "dnnl", "ccompiler")
_SHAPE = (1, 4, 6, 6)


def network() -> IRModule:
    """A network with a convolution with bias and relu and a pool for dnnl, a chain for examplejson,
    comparisons for ccompiler, and a transpose, a slice and a concatenation for the built-in
    kernels."""
    rng = np.random.default_rng(1)
    weight = rng.uniform(-0.4, 0.4, (4, 4, 3, 3)).astype(np.float32)
    bias = rng.uniform(-0.4, 0.4, 4).astype(np.float32)
    x, y = (relay.var(name, shape=_SHAPE) for name in "xy")
    product = relay.nn.conv2d(x, relay.const(weight), padding=(1, 1))
    image = relay.nn.relu(relay.nn.bias_add(product, relay.const(bias)))
    sums = relay.subtract(relay.add(image, y), relay.multiply(x, y))
    larger = relay.negative(relay.maximum(sums, y))
    turned = relay.transpose(larger, (0, 1, 3, 2))
    pooled = relay.nn.avg_pool2d(relay.tanh(turned), (3, 3), padding=(1, 1, 1, 1))
    both = relay.concatenate(relay.Tuple([pooled, relay.multiply(larger, turned)]), 1)
    cut = relay.strided_slice(both, [0, 1, 0, 0], [1, 7, 6, 6])
    thirds = relay.divide(cut, relay.const(np.full((1, 6, 6, 6), 3, np.float32)))
    return IRModule.from_expr(relay.Function([x, y], relay.Tuple([thirds, sums])))


def takers(compiled: Compiled) -> Counter[str]:
    """The number of the model's functions that each codegen compiles; "" is the built-in one."""
    prefix = f"tvmgen_{compiled.program.module}_"
    found = (re.match(f"{prefix}(\\w+)_main_\\d+$", c.function) for c in compiled.program.calls)
    return Counter(match[1] if match else "" for match in found)
