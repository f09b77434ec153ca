"""Random SVDF layers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import Array, DType
from tests.kernels.conformance.litert_oracle import FUSED
from tests.kernels.conformance.stateful import Network
from tests.support.tflite_builder import OperatorSpec, TensorSpec

RUNS = 6


@dataclass(frozen=True)
class Layer:
    """A layer's sizes, its constants, and its scales by tensor, which are empty for float32."""

    batch: int
    features: int
    units: int
    rank: int
    memory: int
    activation: Activation
    feature: Array
    time: Array
    bias: Array | None
    scale: dict[str, float]
    zero_point: dict[str, int]

    @property
    def filters(self) -> int:
        return self.units * self.rank


def random_layer(seed: int, dtype: DType) -> Layer:
    """A random layer with sizes from 1. Every third has extreme weights, every fourth no bias."""
    rng = np.random.default_rng(seed)
    batch, features, units, rank, memory = (int(n) for n in rng.integers(1, (4, 9, 6, 4, 8)))
    shapes = (units * rank, features), (units * rank, memory), (units,)
    is_float = dtype is DType.FLOAT32
    make = _floats if is_float else _integers
    feature, time, bias = make(rng, seed, shapes)
    activations = list(FUSED) if is_float else [Activation.RELU]
    activation = activations[int(rng.integers(len(activations)))]
    scale, zero_point = ({}, {}) if is_float else _quantization(rng, features, memory * rank)
    return Layer(
        batch, features, units, rank, memory, activation,
        feature, time, None if seed % 4 == 3 else bias, scale, zero_point,
    )  # fmt: skip


def _floats(
    rng: np.random.Generator, _seed: int, shapes: tuple[tuple[int, ...], ...]
) -> list[Array]:
    return [rng.normal(0, 1, shape).astype(np.float32) for shape in shapes]


def _integers(
    rng: np.random.Generator, seed: int, shapes: tuple[tuple[int, ...], ...]
) -> list[Array]:
    feature, time, bias = shapes
    if seed % 3 == 0:
        return [
            rng.choice(np.array([-128, 127], np.int8), feature),
            rng.choice(np.array([-32768, 32767], np.int16), time),
            rng.choice(np.array([-(2**31), 2**31 - 1], np.int32), bias),
        ]
    return [
        rng.integers(-128, 128, feature).astype(np.int8),
        rng.integers(-(2**12), 2**12, time).astype(np.int16),
        rng.integers(-(2**20), 2**20, bias).astype(np.int32),
    ]


def _quantization(
    rng: np.random.Generator, features: int, memories: int
) -> tuple[dict[str, float], dict[str, int]]:
    """Scales that spread sums over the state and over the output; some are far off."""
    off = 2.0 ** rng.uniform(-6, 6, 2) if rng.random() < 0.3 else (1.0, 1.0)
    x, feature, time = (float(s) for s in 10.0 ** rng.uniform(-3, 0, 3))
    state = x * feature * 75 * 75 * features**0.5 / 2**13 * off[0]
    y = state * time * 2**13 * 2**11 * memories**0.5 / 50 * off[1]
    zero_points = rng.choice([-128, 127, *rng.integers(-128, 128, 3)], 2)
    return (
        {"x": x, "feature": feature, "time": time, "state": state, "y": y},
        {"x": int(zero_points[0]), "y": int(zero_points[1])},
    )


def narrowed(layer: Layer, seed: int) -> Layer:
    """The layer with time weights and a state of int8, as TFLite Micro has them."""
    scale = {
        **layer.scale,
        "time": layer.scale["time"] * 2**8,
        "state": layer.scale["state"] * 2**7,
    }
    zero = int(np.random.default_rng(seed).choice([-128, -5, 0, 3, 127]))
    time = (layer.time >> 8 if seed % 3 == 0 else layer.time >> 5).astype(np.int8)
    return replace(layer, time=time, scale=scale, zero_point={**layer.zero_point, "state": zero})


def samples(layer: Layer, seed: int, runs: int = RUNS) -> list[Array]:
    """The inputs of consecutive runs."""
    rng = np.random.default_rng(seed + 10**6)
    shape = (runs, layer.batch, layer.features)
    if not layer.scale:
        return list(rng.normal(0, 1, shape).astype(np.float32))
    return list(rng.integers(-128, 128, shape).astype(np.int8))


def network(seed: int, dtype: DType, runs: int = RUNS, *, is_narrow: bool = False) -> Network:
    """A model of a random layer, whose integer memory is int16, or int8 if it ``is_narrow``."""
    layer = random_layer(seed, dtype)
    layer = narrowed(layer, seed) if is_narrow else layer
    is_float = dtype is DType.FLOAT32
    types = dict.fromkeys(("x", "feature", "time", "bias", "state", "y"), "float32")
    if not is_float:
        memory = "int8" if is_narrow else "int16"
        types = {"x": "int8", "feature": "int8", "time": memory, "bias": "int32",
                 "state": memory, "y": "int8"}  # fmt: skip
    shapes = {
        "x": (layer.batch, layer.features),
        "feature": layer.feature.shape,
        "time": layer.time.shape,
        "bias": (layer.units,),
        "state": (layer.batch, layer.memory * layer.filters),
        "y": (layer.batch, layer.units),
    }
    data = {"feature": layer.feature, "time": layer.time, "bias": layer.bias}
    names = [name for name in shapes if name != "bias" or layer.bias is not None]
    tensors = [
        TensorSpec(
            name, shapes[name], types[name], data.get(name),
            (layer.scale[name],) if name in layer.scale else (),
            (layer.zero_point.get(name, 0),) if name in layer.scale else (),
            is_variable=name == "state",
        )
        for name in names
    ]  # fmt: skip
    operator = OperatorSpec(
        "SVDF",
        ["x", "feature", "time", "bias" if layer.bias is not None else -1, "state"],
        ["y"],
        "SVDFOptions",
        {"rank": layer.rank, "fusedActivationFunction": FUSED[layer.activation]},
        3,
    )
    return Network(f"seed {seed}", tensors, operator, samples(layer, seed, runs), ("state",))
