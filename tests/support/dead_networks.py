"""A network whose layers have dead channels of every kind."""

from __future__ import annotations

import numpy as np

from microgen.graph.ir.graph import Array
from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model

KEPT = {
    "first": (0, 3, 4, 7, 8, 9, 10, 11),
    "second": (0, 1, 2, 3),
    "third": (0, 1, 2, 3),
}
"""The channels that are left, by layer."""

_SHAPES = {
    "x": (1, 6, 5, 3),
    "first": (1, 6, 5, 12),
    "second": (1, 6, 5, 8),
    "third": (1, 6, 5, 8),
    "y": (1, 4),
}
_WEIGHTS = {"x": (12, 3, 3, 3), "first": (8, 1, 1, 12), "second": (1, 3, 3, 8), "third": (4, 240)}


def tflite() -> bytes:
    """CONV_2D, CONV_2D of 1x1, DEPTHWISE_CONV_2D and FULLY_CONNECTED.

    Channels 1, 2, 5 and 6 of the first layer have weights of 0; the value of the last two is not
    0. Channels 4 and 5 of the second are clamped to 0 by their biases, and the last layer does not
    read channels 6 and 7.
    """
    tensors = [
        TensorSpec(name, shape, scale=(0.05,), zero_point=(3 if name in "xy" else -128,))
        for name, shape in _SHAPES.items()
    ]
    for name, (weight, bias) in _arrays().items():
        axis = 3 if name == "second" else 0
        count = 1 if name == "third" else weight.shape[axis]
        scale = float(np.float32(0.01))
        sums = float(np.float32(0.05) * np.float32(0.01))
        zeros, scales = (0,) * count, (scale,) * count
        tensors.append(TensorSpec(f"{name}w", weight.shape, "int8", weight, scales, zeros, axis))
        tensors.append(TensorSpec(f"{name}b", bias.shape, "int32", bias, (sums,) * count, zeros))
    return build_model(tensors, _operators(), ["x"], ["y"])


def _arrays() -> dict[str, tuple[Array, Array]]:
    """The weight and the bias of the layer that reads each tensor."""
    rng = np.random.default_rng(5)
    arrays = {}
    for name, shape in _WEIGHTS.items():
        count = shape[3] if name == "second" else shape[0]
        biases = rng.integers(-99, 99, count).astype(np.int32)
        arrays[name] = rng.integers(-127, 128, shape).astype(np.int8), biases
    weight, bias = arrays["x"]
    weight[[1, 2, 5, 6]] = 0
    bias[[1, 2, 5, 6]] = 0, 0, 2000, 3000
    arrays["first"][1][[4, 5]] = -(2**24)
    arrays["third"][0].reshape(4, 30, 8)[..., [6, 7]] = 0
    return arrays


def _operators() -> list[OperatorSpec]:
    window = {"padding": 0, "strideH": 1, "strideW": 1, "fusedActivationFunction": 1}
    layers = [
        ("CONV_2D", "Conv2DOptions", window),
        ("CONV_2D", "Conv2DOptions", window),
        ("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", {**window, "depthMultiplier": 1}),
        ("FULLY_CONNECTED", "FullyConnectedOptions", {}),
    ]
    names = [*_SHAPES]
    return [
        OperatorSpec(code, [data, f"{data}w", f"{data}b"], [names[i + 1]], table, options)
        for i, (data, (code, table, options)) in enumerate(zip(_WEIGHTS, layers, strict=True))
    ]
