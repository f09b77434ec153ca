"""The shapes to which costs are fitted, and others with which tests compare the estimates."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from microgen.graph.arithmetic.terms import Activation, Rounding
from scripts.measuring import alternatives, layers
from scripts.measuring.layers import Layer

_RELU = Activation.RELU
_WINDOWS = [
    {"data": (12, 12, 3), "filters": 8, "strides": (2, 2)},  # first layers
    {"data": (14, 12, 3), "filters": 16, "activation": _RELU},
    {"data": (25, 5, 1), "filters": 64, "kernel": (10, 4), "strides": (2, 2)},
    {"data": (24, 10, 1), "filters": 16, "kernel": (10, 4), "padding": "VALID"},
    {"data": (8, 8, 16), "filters": 16, "activation": _RELU},
    {"data": (6, 6, 32), "filters": 32},
    {"data": (6, 6, 16), "filters": 32, "strides": (2, 2)},
    {"data": (5, 5, 8), "filters": 6, "padding": "VALID"},
    {"data": (6, 4, 5), "filters": 7},
    {"data": (7, 7, 4), "filters": 12, "kernel": (5, 5), "strides": (2, 2)},
    {"data": (4, 4, 64), "filters": 16},
    {"data": (20, 1, 10), "filters": 9, "kernel": (3, 1)},
    {"data": (10, 10, 4), "filters": 8, "padding": "VALID"},
    {"data": (16, 8, 1), "filters": 8, "kernel": (4, 4), "padding": "VALID", "activation": _RELU},
    {"data": (9, 9, 10), "filters": 10, "activation": _RELU},
    {"data": (6, 6, 6), "filters": 5},
    {"data": (12, 6, 2), "filters": 12, "kernel": (5, 3), "strides": (1, 2)},
    {"data": (30, 1, 8), "filters": 16, "kernel": (5, 1), "padding": "VALID"},
    {"data": (7, 5, 16), "filters": 7, "padding": "VALID"},
]
_POINTS = [
    {"data": (5, 5, 64), "filters": 64},
    {"data": (12, 12, 8), "filters": 16},
    {"data": (9, 9, 16), "filters": 32, "activation": _RELU},
    {"data": (6, 6, 32), "filters": 32},
    {"data": (3, 3, 128), "filters": 64},
    {"data": (3, 3, 256), "filters": 32, "activation": _RELU},
    {"data": (8, 8, 3), "filters": 10},
    {"data": (5, 7, 13), "filters": 7},
    {"data": (1, 1, 64), "filters": 12},
    {"data": (6, 6, 9), "filters": 5},
    {"data": (6, 6, 24), "filters": 24, "activation": _RELU},
    {"data": (10, 4, 16), "filters": 3},
    {"data": (4, 4, 30), "filters": 30},
    {"data": (7, 7, 6), "filters": 16},
    {"data": (1, 1, 32), "filters": 8, "activation": _RELU},
]
_STRIDED = [{"data": (8, 8, 16), "filters": 32, "strides": (2, 2)}]
_CHANNELS = [
    {"data": (16, 16, 8)},
    {"data": (16, 16, 8), "strides": (2, 2)},
    {"data": (10, 10, 16), "activation": _RELU},
    {"data": (12, 5, 32)},
    {"data": (9, 9, 32), "strides": (2, 2)},
    {"data": (6, 5, 64)},
    {"data": (6, 6, 64), "strides": (2, 2), "activation": _RELU},
    {"data": (3, 3, 128)},
    {"data": (3, 3, 256)},
    {"data": (3, 3, 256), "strides": (2, 2)},
    {"data": (8, 7, 6), "padding": "VALID"},
    {"data": (6, 9, 13)},
    {"data": (20, 1, 32), "kernel": (5, 1), "padding": "VALID"},
    {"data": (7, 7, 24), "kernel": (5, 5)},
    {"data": (10, 10, 16), "padding": "VALID", "activation": _RELU},
    {"data": (12, 1, 48), "kernel": (3, 1)},
    {"data": (9, 8, 10), "kernel": (5, 5), "padding": "VALID"},
    {"data": (9, 9, 7), "strides": (2, 2)},
    {"data": (13, 2, 40), "kernel": (7, 1), "activation": _RELU},
    {"data": (8, 8, 12), "kernel": (2, 2), "strides": (2, 2), "padding": "VALID"},
]
_BANDS = [  # the rows of one step of functions with rows
    {"data": (3, 5, 64), "padding": (0, 1, 0, 1)},
    {"data": (3, 24, 16), "padding": (0, 1, 0, 1)},
    {"data": (4, 12, 32), "padding": (0, 1, 0, 1)},
    {"data": (3, 48, 8), "padding": (0, 1, 0, 1)},
    {"data": (3, 6, 128), "padding": (0, 1, 0, 1), "activation": _RELU},
    {"data": (3, 3, 256), "padding": (0, 1, 0, 1)},
    {"data": (4, 7, 13), "padding": (0, 1, 0, 1)},
    {"data": (5, 16, 9), "padding": (0, 1, 0, 1)},
    {"data": (3, 1, 40), "padding": (0, 1, 0, 1)},
    {"data": (3, 48, 8), "strides": (2, 2), "padding": (0, 0, 0, 1)},
    {"data": (3, 24, 24), "strides": (2, 2), "padding": (0, 0, 0, 1)},
    {"data": (5, 12, 32), "strides": (2, 2), "padding": (0, 0, 0, 1)},
    {"data": (3, 6, 128), "strides": (2, 2), "padding": (0, 0, 0, 1)},
    {"data": (3, 9, 11), "strides": (2, 2), "padding": (0, 1, 0, 1)},
    {"data": (5, 3, 48), "strides": (2, 2), "padding": (0, 1, 0, 1)},
]
_ROW_WINDOWS = [  # the same of convolutions
    {"data": (3, 32, 16), "filters": 16, "padding": (0, 1, 0, 1)},
    {"data": (4, 8, 32), "filters": 32, "padding": (0, 1, 0, 1)},
    {"data": (3, 16, 8), "filters": 16, "strides": (2, 2), "padding": (0, 0, 0, 1)},
    {"data": (10, 10, 1), "filters": 32, "kernel": (10, 4), "strides": (2, 2)},
]
_ROW_POINTS = [
    {"data": (1, 5, 64), "filters": 64},
    {"data": (1, 24, 16), "filters": 32},
    {"data": (2, 3, 64), "filters": 64},
    {"data": (1, 7, 32), "filters": 30, "activation": _RELU},
    {"data": (1, 3, 128), "filters": 64},
    {"data": (1, 2, 20), "filters": 11},
]
_INSIDE = [  # windows
    {"data": (30, 1, 40), "kernel": (3, 1), "padding": "VALID"},
    {"data": (24, 1, 16), "kernel": (10, 1), "padding": "VALID"},
    {"data": (11, 9, 8), "strides": (2, 2), "padding": "VALID"},
    {"data": (9, 13, 5), "kernel": (3, 4), "padding": "VALID", "activation": _RELU},
    {"data": (7, 7, 32), "padding": "VALID"},
    {"data": (18, 1, 64), "kernel": (8, 1), "padding": "VALID", "activation": _RELU},
]
_MULTIPLIED = [
    {"data": (10, 10, 1), "multiplier": 8, "kernel": (10, 8)},
    {"data": (8, 8, 3), "multiplier": 4},
    {"data": (6, 6, 5), "multiplier": 2, "padding": "VALID"},
    {"data": (5, 5, 16), "multiplier": 2},
]
_PLANES = [  # for kernels that copy channels to planes
    {"data": (16, 16, 8)},
    {"data": (25, 5, 16)},
    {"data": (6, 6, 32)},
    {"data": (3, 3, 64)},
    {"data": (9, 12, 13)},
    {"data": (6, 36, 8)},
    {"data": (27, 27, 4)},
    {"data": (12, 10, 1), "multiplier": 4},
    {"data": (5, 4, 3), "padding": "VALID"},
    {"data": (16, 16, 8), "strides": (2, 2)},
    {"data": (9, 9, 16), "strides": (2, 2)},
    {"data": (6, 6, 32), "strides": (2, 2)},
    {"data": (3, 3, 64), "strides": (2, 2)},
    {"data": (8, 22, 12), "strides": (2, 2)},
    {"data": (33, 33, 4), "strides": (2, 2)},
    {"data": (12, 10, 1), "strides": (2, 2), "multiplier": 4},
    {"data": (7, 7, 3), "strides": (2, 2)},
    {"data": (12, 12, 20), "strides": (2, 2)},
    {"data": (24, 24, 8), "strides": (2, 2)},
    {"data": (16, 18, 9), "strides": (2, 2)},
    {"data": (5, 8, 40), "strides": (2, 2), "padding": "VALID"},
    {"data": (4, 40, 8), "strides": (2, 2)},
    {"data": (2, 2, 48), "strides": (2, 2)},
    {"data": (20, 1, 32), "kernel": (5, 1), "padding": "VALID"},
    {"data": (24, 1, 16), "kernel": (10, 1), "padding": "VALID"},
    {"data": (12, 1, 48), "kernel": (3, 1)},
    {"data": (15, 1, 32), "kernel": (15, 1), "padding": "VALID"},
    {"data": (9, 9, 12), "kernel": (5, 5)},
    {"data": (9, 9, 8), "kernel": (5, 5), "strides": (2, 2)},
    {"data": (20, 10, 1), "kernel": (10, 4), "strides": (2, 2), "multiplier": 8},
    {"data": (10, 10, 2), "kernel": (4, 6), "padding": "VALID", "multiplier": 3},
    {"data": (7, 9, 10), "kernel": (2, 3), "padding": "VALID"},
]
_LINES = [  # filters along one axis only
    {"data": (28, 1, 24), "kernel": (9, 1)},
    {"data": (28, 1, 24), "kernel": (9, 1), "strides": (2, 1), "padding": "VALID"},
    {"data": (1, 33, 20), "kernel": (1, 3), "activation": _RELU},
    {"data": (1, 40, 9), "kernel": (1, 16), "padding": "VALID"},
    {"data": (6, 21, 16), "kernel": (1, 5)},
    {"data": (19, 4, 11), "kernel": (4, 1), "activation": _RELU},
    {"data": (16, 7, 8), "kernel": (2, 1), "strides": (2, 1), "padding": "VALID"},
    {"data": (48, 1, 8), "kernel": (13, 1)},
]
_DENSE = [
    {"depth": 640, "filters": 32, "activation": _RELU},
    {"depth": 128, "filters": 128},
    {"depth": 128, "filters": 8, "activation": _RELU},
    {"depth": 8, "filters": 128},
    {"depth": 64, "filters": 12},
    {"depth": 64, "filters": 10},
    {"depth": 256, "filters": 2},
    {"depth": 100, "filters": 20},
    {"depth": 33, "filters": 13},
    {"depth": 16, "filters": 16},
    {"depth": 50, "filters": 24, "rows": 4},
    {"depth": 48, "filters": 7, "rows": 3},
    {"depth": 20, "filters": 8, "rows": 8},
    {"depth": 96, "filters": 13, "rows": 5},
    {"depth": 12, "filters": 32, "rows": 6},
    {"depth": 784, "filters": 10},
    {"depth": 40, "filters": 40, "activation": _RELU},
    {"depth": 5, "filters": 17},
    {"depth": 300, "filters": 6},
    {"depth": 20, "filters": 3, "activation": _RELU},
    {"depth": 32, "filters": 64, "activation": _RELU},
    {"depth": 192, "filters": 16},
]
_TRANSPOSED = [
    {"data": (6, 6, 16), "filters": 8},
    {"data": (5, 5, 8), "filters": 16, "kernel": (4, 4)},
    {"data": (8, 8, 4), "filters": 4, "kernel": (2, 2)},
    {"data": (4, 4, 32), "filters": 16},
    {"data": (5, 4, 10), "filters": 6, "padding": "VALID"},
    {"data": (6, 6, 8), "filters": 3, "strides": (1, 1)},
    {"data": (3, 3, 64), "filters": 8},
    {"data": (6, 5, 6), "filters": 12, "padding": "VALID"},
    {"data": (4, 5, 20), "filters": 5, "kernel": (2, 2)},
    {"data": (5, 5, 12), "filters": 9, "strides": (1, 1)},
    {"data": (4, 4, 7), "filters": 4, "kernel": (5, 5)},
    {"data": (6, 4, 16), "filters": 16, "kernel": (4, 4), "padding": "VALID"},
]
_POOLS = [
    {"data": (6, 5, 64), "size": (6, 5), "strides": (6, 5)},
    {"data": (8, 8, 32), "size": (8, 8), "strides": (8, 8)},
    {"data": (3, 3, 256), "size": (3, 3), "strides": (3, 3)},
    {"data": (12, 12, 8), "size": (2, 2), "strides": (2, 2)},
    {"data": (10, 10, 16), "size": (3, 3), "strides": (2, 2), "padding": "SAME"},
    {"data": (9, 7, 10), "size": (3, 2), "strides": (1, 1), "padding": "SAME"},
    {"data": (5, 5, 24), "size": (5, 5), "strides": (5, 5)},
    {"data": (9, 9, 8), "size": (3, 3), "strides": (3, 3)},
    {"data": (7, 7, 6), "size": (2, 2), "strides": (1, 1), "padding": "SAME"},
    {"data": (25, 5, 16), "size": (25, 5), "strides": (25, 5)},
    {"data": (1, 5, 64), "size": (1, 5), "strides": (1, 5)},
    {"data": (1, 12, 38), "size": (1, 12), "strides": (1, 12)},
]
_LSTM = [
    {"steps": 4, "features": 16, "cells": 16},
    {"steps": 8, "features": 10, "cells": 8},
    {"steps": 2, "features": 28, "cells": 20},
    {"steps": 3, "features": 64, "cells": 12},
    {"steps": 1, "features": 13, "cells": 15},
    {"steps": 6, "features": 3, "cells": 32},
    {"steps": 5, "features": 32, "cells": 8},
    {"steps": 2, "features": 7, "cells": 24},
    {"steps": 10, "features": 20, "cells": 10},
]
_SVDF = [
    {"features": 40, "filters": 32, "memory": 10, "rank": 1},
    {"features": 64, "filters": 16, "memory": 8, "rank": 2},
    {"features": 13, "filters": 24, "memory": 16, "rank": 4},
    {"features": 96, "filters": 10, "memory": 5, "rank": 1},
    {"features": 16, "filters": 64, "memory": 4, "rank": 2},
    {"features": 30, "filters": 20, "memory": 12, "rank": 1},
    {"features": 50, "filters": 12, "memory": 6, "rank": 3},
    {"features": 8, "filters": 40, "memory": 20, "rank": 2},
]
_RECURRENT = (
    {"steps": 28, "features": 27, "cells": 32},
    {"steps": 3, "features": 8, "cells": 5},
    {"steps": 6, "features": 5, "cells": 8, "batches": 2},
)
_CELLS = [
    {"steps": 4, "features": 16, "cells": 16},
    {"steps": 8, "features": 10, "cells": 8},
    {"steps": 2, "features": 28, "cells": 20},
    {"steps": 3, "features": 8, "cells": 5},
    {"steps": 6, "features": 5, "cells": 8, "batches": 2},
    {"steps": 1, "features": 13, "cells": 15},
    {"steps": 10, "features": 20, "cells": 4},
]
_USUAL = {"rnn": ("tanh",), "gru": ("sigmoid", "tanh"), "lstm": ("sigmoid", "tanh", "tanh")}
_MATMUL = [
    {"batches": 1, "rows": 8, "depth": 16, "columns": 8},
    {"batches": 4, "rows": 6, "depth": 8, "columns": 10},
    {"batches": 2, "rows": 16, "depth": 5, "columns": 12},
    {"batches": 1, "rows": 4, "depth": 40, "columns": 9},
]
_IMAGES = [(8, 8, 16), (12, 12, 8), (4, 4, 64), (5, 7, 9), (16, 16, 3)]
_SIZES = [16, 64, 250, 640, 1000]
_CLAMPED: dict[str, Any] = {"rounding": Rounding.UPWARD, "activation": _RELU}
_ROWS = [(1, 2), (1, 10), (1, 12), (1, 35), (8, 10), (4, 100)]


def _each(layer: Any, shapes: Any, **fixed: Any) -> tuple[Layer, ...]:
    return tuple(functools.partial(layer, **fixed, **shape) for shape in shapes)


def _plain(shapes: Any) -> list[dict[str, Any]]:
    """The shapes without their activations."""
    return [{k: v for k, v in shape.items() if k != "activation"} for shape in shapes]


def _sized(layer: Any, name: str, values: Any, **fixed: Any) -> tuple[Layer, ...]:
    return _each(layer, [{name: value} for value in values], **fixed)


_FIT: Mapping[str, tuple[Layer, ...]] = {
    "nn.conv2d": (
        *_each(layers.conv2d, [*_WINDOWS, *_ROW_WINDOWS]),
        *_each(layers.conv2d, [*_POINTS, *_STRIDED, *_ROW_POINTS], kernel=(1, 1)),
        *_each(layers.conv2d, _WINDOWS, rounding=Rounding.UPWARD),
        *_each(layers.conv2d, [*_POINTS, *_STRIDED], kernel=(1, 1), rounding=Rounding.UPWARD),
        *_each(layers.conv2d, _plain(_WINDOWS), **_CLAMPED),
        *_each(layers.conv2d, _plain(_POINTS), kernel=(1, 1), **_CLAMPED),
    ),
    "nn.conv2d_hybrid": _each(layers.conv2d_hybrid, _plain(_WINDOWS[:8])),
    "nn.depthwise_conv2d": (
        *_each(layers.depthwise, [*_CHANNELS, *_MULTIPLIED, *_PLANES, *_INSIDE, *_LINES, *_BANDS]),
        *_each(
            layers.depthwise,
            [*_CHANNELS, *_PLANES, *_INSIDE, *_LINES, *_BANDS],
            rounding=Rounding.UPWARD,
        ),
        *_each(layers.depthwise, _PLANES[:9], activation=_RELU),
    ),
    "nn.conv2d_transpose": _each(layers.transposed, _TRANSPOSED),
    "nn.dense": (
        *_each(layers.dense, _DENSE, rounding=Rounding.SINGLE),
        *_each(layers.dense, _DENSE, rounding=Rounding.DOUBLE),
        *_each(layers.dense, _DENSE, rounding=Rounding.DOUBLE, by_channel=True),
    ),
    "nn.dense_hybrid": _each(layers.dense_hybrid, _plain(_DENSE)),
    "nn.batch_matmul": _each(layers.batch_matmul, _MATMUL),
    "nn.avg_pool2d": _each(layers.pool, _POOLS, kind="avg"),
    "nn.max_pool2d": _each(layers.pool, _POOLS, kind="max"),
    "nn.lstm": (*_each(layers.lstm, _LSTM), *_each(layers.lstm, _LSTM, by_tables=True)),
    "nn.svdf": _each(layers.svdf, _SVDF),
    "nn.recurrent": tuple(
        layer
        for kind, functions in _USUAL.items()
        for is_special in ((False,) if kind == "rnn" else (False, True))
        for layer in _each(
            layers.recurrent, _CELLS, kind=kind, functions=functions, is_special=is_special
        )
    ),
    "nn.recurrent_hybrid": tuple(
        layer
        for kind, functions in _USUAL.items()
        for is_special in (False, True)
        for layer in _each(
            layers.recurrent_hybrid, _CELLS, kind=kind, functions=functions, is_special=is_special
        )
    ),
    "add": (
        *_sized(layers.add, "data", _IMAGES),
        *_sized(layers.add, "data", _IMAGES[1:3], activation=_RELU),
    ),
    "multiply": (
        *_sized(layers.multiply, "data", _IMAGES),
        *_sized(layers.multiply, "data", _IMAGES[1:3], activation=_RELU),
    ),
    "mean": _sized(layers.mean, "data", _IMAGES),
    "nn.softmax": _each(layers.softmax, [{"rows": r, "width": w} for r, w in _ROWS]),
    "nn.pad": _each(layers.pad, [{"data": d, "by": i % 2 + 1} for i, d in enumerate(_IMAGES)]),
    "transpose": _sized(layers.transpose, "data", _IMAGES),
    "concatenate": _each(
        layers.concatenate, [{"data": d, "parts": i % 3 + 2} for i, d in enumerate(_IMAGES)]
    ),
    "lookup": _sized(layers.lookup, "size", _SIZES),
    "copy": _sized(layers.copy, "size", _SIZES),
    "qnn.requantize": _sized(layers.requantize, "size", _SIZES),
    "qnn.quantize": _sized(layers.quantize, "size", _SIZES),
    "qnn.dequantize": _sized(layers.dequantize, "size", _SIZES),
}


def _joined(*parts: Mapping[str, tuple[Layer, ...]]) -> Mapping[str, tuple[Layer, ...]]:
    """The layers of all parts by op."""
    ops = dict.fromkeys(op for part in parts for op in part)
    return {op: tuple(layer for part in parts for layer in part.get(op, ())) for op in ops}


FIT = _joined(_FIT, alternatives.MORE, alternatives.LATER)
# The layers with which estimates are compared, including layers of kernels that are measured as
# another.
COMPARED = _joined(
    *(_FIT, alternatives.MORE, alternatives.ALIKE, alternatives.LATER, alternatives.LATER_ALIKE)
)

_FUNCTIONS = {
    "rnn": (("tanh",), ("relu",), ("leaky_relu",)),
    "gru": (
        ("sigmoid", "tanh"),
        ("hard_sigmoid", "softsign"),
        ("sigmoid", "softplus"),
        ("leaky_relu", "elu"),
    ),
    "lstm": (
        ("sigmoid", "tanh", "tanh"),
        ("hard_sigmoid", "softsign", "elu"),
        ("softplus", "scaled_tanh", "thresholded_relu"),
        ("affine", "hard_sigmoid", "leaky_relu"),
    ),
}


# Layers whose stack is measured, but not their costs.
FURTHER: Mapping[str, tuple[Layer, ...]] = {
    "nn.recurrent": tuple(
        layer
        for kind, choices in _FUNCTIONS.items()
        for functions in choices
        for is_special in ((False,) if kind == "rnn" else (False, True))
        for layer in _each(
            layers.recurrent,
            _RECURRENT,
            kind=kind,
            functions=functions,
            is_special=is_special,
        )
    )
}
