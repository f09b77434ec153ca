"""A network whose weights are int4, and the same network with the same weights in int8."""

from __future__ import annotations

import numpy as np

from tests.support.tflite_builder import OperatorSpec, TensorSpec, build_model, packed

WEIGHTS = {
    "w": ((8, 3, 3, 3), 0),  # rows of an odd number of weights
    "g": ((10, 3, 2, 4), 0),  # two groups, dilated
    "d": ((1, 3, 3, 10), 3),
    "m": ((1, 2, 1, 20), 3),  # depth multiplier 2
    "p": ((9, 1, 1, 20), 0),
    "f": ((7, 225), None),
    "v": ((5, 7), 0),
}
"""Shape and axis of output channels; None for one scale for all."""

_SHAPES = {
    "x": (1, 6, 5, 3),
    "wy": (1, 6, 5, 8),
    "gy": (1, 6, 5, 10),
    "dy": (1, 6, 5, 10),
    "my": (1, 5, 5, 20),
    "py": (1, 5, 5, 9),
    "fy": (1, 7),
    "y": (1, 5),
}


def tflite(dtype: str) -> bytes:
    """CONV_2D with and without groups, DEPTHWISE_CONV_2D and FULLY_CONNECTED. The weights are
    stored as ``dtype``: int4 or int8."""
    rng = np.random.default_rng(1)
    tensors = [
        TensorSpec(name, shape, scale=(0.05 if name == "x" else 0.1,), zero_point=(3,))
        for name, shape in _SHAPES.items()
    ]
    for name, (shape, axis) in WEIGHTS.items():
        values = rng.integers(-8, 8, shape).astype(np.int8)
        data = packed(values) if dtype == "int4" else values
        count = 1 if axis is None else shape[axis]
        scales = tuple(map(float, rng.uniform(0.01, 0.05, count).astype(np.float32)))
        tensors.append(TensorSpec(name, shape, dtype, data, scales, (0,) * count, axis or 0))
        data_scale = np.float32(0.05 if name == "w" else 0.1)
        sums = tuple(float(data_scale * np.float32(scale)) for scale in scales)
        channels = shape[axis or 0]
        biases = rng.integers(-99, 99, channels).astype(np.int32)
        tensors.append(TensorSpec(f"{name}b", (channels,), "int32", biases, sums, (0,) * count))
    return build_model(tensors, _operators(), ["x"], ["y"])


def _operators() -> list[OperatorSpec]:
    window = {"padding": 0, "strideH": 1, "strideW": 1}
    dilated = {**window, "dilationHFactor": 2, "dilationWFactor": 2}
    valid = {**window, "padding": 1, "depthMultiplier": 2}
    conv, depthwise = "Conv2DOptions", "DepthwiseConv2DOptions"
    dense = ("FULLY_CONNECTED", "FullyConnectedOptions", {})
    layers = [
        ("CONV_2D", conv, window),
        ("CONV_2D", conv, dilated),
        ("DEPTHWISE_CONV_2D", depthwise, {**window, "depthMultiplier": 1}),
        ("DEPTHWISE_CONV_2D", depthwise, valid),
        ("CONV_2D", conv, window),
        dense,
        dense,
    ]
    names = [*_SHAPES]
    return [
        OperatorSpec(code, [names[i], weight, f"{weight}b"], [names[i + 1]], table, options)
        for i, (weight, (code, table, options)) in enumerate(zip(WEIGHTS, layers, strict=True))
    ]
