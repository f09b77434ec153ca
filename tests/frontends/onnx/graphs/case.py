"""A random ONNX model with samples of its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from microgen import options
from microgen.graph.ir.graph import Array
from tests.frontends.onnx.quantization.quantized import Network

SAMPLES = 2


@dataclass(frozen=True)
class Case:
    """The model of a seed, and the values of its inputs for each sample."""

    seed: int
    model: onnx.ModelProto
    samples: tuple[dict[str, Array], ...]

    @property
    def options(self) -> dict[str, Any]:
        """The options for ``generate``: seeds take planners and goals in turn."""
        planner = options.PLANNERS[self.seed % len(options.PLANNERS)]
        return {"planner": planner, "optimize": options.OPTIMIZE[self.seed % len(options.OPTIMIZE)]}


def case(seed: int, network: Network, opset: int) -> Case:
    """The network with samples. Every other one has all its tensors as outputs, so that each layer
    is compared by itself; the others have the last one, so that layers may be fused."""
    if seed % 2:
        last = list(network.outputs)[-1]
        network.outputs = {last: network.outputs[last]}
    model = network.model(opset)
    return Case(seed, model, tuple(_sample(network) for _ in range(SAMPLES)))


def _sample(network: Network) -> dict[str, Array]:
    return {
        name: _values(network.random, dtype, shape)
        for name, (dtype, shape) in network.inputs.items()
    }


def _values(random: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    if dtype == "float32":
        return random.normal(0, 2, shape).astype(np.float32)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)
