"""Further shapes: of layers that few networks have, but that several kernels can compute, and of
kernels that are measured as another."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import DType, Node
from scripts.measuring import elementwise, forests, layers
from scripts.measuring.builder import Builder
from scripts.measuring.layers import Layer

_RELU = Activation.RELU
_CHANNELS = (
    ((1, 8, 8, 16), (16,)),
    ((1, 12, 10, 24), (24,)),
    ((1, 30, 8), (1, 30, 1)),
    ((1, 9, 9, 10), (1, 1, 1, 10)),
)
_INEXACT = 0.9016  # the scale of a sum
_EQUAL = (((4, 250),) * 2, ((1, 5, 7, 9),) * 2)
_IMAGES = ((3, 1, 4), (2, 2, 12), (4, 3, 20), (6, 6, 28), (5, 5, 5), (7, 4, 36))
_JOINED = (
    {"data": (6, 6, 28), "parts": 2},
    {"data": (10, 4, 5), "parts": 3},
    {"data": (3, 7, 33), "parts": 4},
    {"data": (9, 8, 12), "parts": 2},
    {"data": (20, 1, 6), "parts": 3},
)
_SMALL = (
    {"data": (12, 10, 12), "size": (2, 2), "strides": (2, 2)},
    {"data": (9, 9, 20), "size": (3, 3), "strides": (3, 3)},
    {"data": (8, 6, 4), "size": (2, 3), "strides": (2, 3)},
    {"data": (10, 10, 16), "size": (2, 2), "strides": (2, 2), "activation": _RELU},
    {"data": (9, 7, 10), "size": (3, 2), "padding": "SAME", "activation": _RELU},
)
_WHOLE = (
    {"data": (8, 8, 32), "size": (8, 8)},
    {"data": (6, 5, 20), "size": (6, 5)},
    {"data": (1, 12, 38), "size": (1, 12)},
    {"data": (25, 5, 16), "size": (25, 5)},
)
_WINDOWS = (
    {"data": (14, 12, 3), "filters": 16, "activation": _RELU},
    {"data": (8, 8, 16), "filters": 16},
    {"data": (25, 5, 1), "filters": 64, "kernel": (10, 4), "strides": (2, 2)},
    {"data": (10, 10, 4), "filters": 8, "padding": "VALID", "activation": _RELU},
    {"data": (6, 4, 5), "filters": 7},
    {"data": (5, 5, 64), "filters": 64, "kernel": (1, 1)},
    {"data": (5, 7, 13), "filters": 7, "kernel": (1, 1), "activation": _RELU},
    {"data": (12, 6, 2), "filters": 12, "kernel": (5, 3), "strides": (1, 2)},
    {"data": (7, 5, 16), "filters": 7, "padding": "VALID"},
    {"data": (30, 1, 8), "filters": 16, "kernel": (5, 1), "padding": "VALID"},
)
_TAPS = (  # of groups, or with dilated columns
    {"data": (10, 10, 32), "filters": 32, "groups": 4},
    {"data": (12, 12, 16), "filters": 16, "groups": 4},
    {"data": (9, 7, 30), "filters": 20, "groups": 2, "strides": (2, 2)},
    {"data": (8, 8, 24), "filters": 24, "groups": 3, "kernel": (1, 1)},
    {"data": (8, 8, 16), "filters": 16, "groups": 8},
    {"data": (40, 1, 16), "filters": 24, "groups": 2, "kernel": (5, 1)},
    {"data": (7, 7, 20), "filters": 14, "groups": 2, "kernel": (5, 5), "padding": "VALID"},
    {"data": (12, 12, 12), "filters": 12, "dilation": (2, 2)},
    {"data": (1, 48, 24), "filters": 24, "kernel": (1, 3), "dilation": (1, 4)},
    {"data": (9, 9, 13), "filters": 7, "dilation": (2, 2), "padding": "VALID"},
    {"data": (12, 10, 16), "filters": 10, "dilation": (2, 2), "groups": 2},
    {"data": (6, 6, 64), "filters": 32, "dilation": (2, 2)},
    {"data": (14, 14, 8), "filters": 8, "dilation": (1, 2)},
    {"data": (5, 5, 48), "filters": 40, "groups": 4},
)
_PHASES = (  # of transposed convolutions: many channels, few outputs, rows of several strips
    {"data": (9, 9, 20), "filters": 14, "kernel": (5, 5)},
    {"data": (14, 14, 12), "filters": 6, "kernel": (5, 5), "activation": _RELU},
    {"data": (12, 16, 28), "filters": 14, "activation": _RELU},
    {"data": (10, 10, 14), "filters": 1},
    {"data": (12, 7, 8), "filters": 3, "kernel": (4, 4)},
    {"data": (8, 8, 24), "filters": 2, "kernel": (2, 2), "activation": _RELU},
    {"data": (4, 19, 8), "filters": 1, "kernel": (5, 5)},
    {"data": (6, 6, 16), "filters": 3, "strides": (3, 3), "kernel": (4, 4)},
    {"data": (1, 24, 16), "filters": 20, "kernel": (1, 8), "strides": (1, 4)},
    {"data": (1, 40, 6), "filters": 2, "kernel": (1, 4), "strides": (1, 2)},
    {"data": (7, 7, 40), "filters": 24, "kernel": (2, 2)},
    {"data": (5, 9, 33), "filters": 10, "strides": (1, 1)},
)
_STRIPS = (  # of depthwise convolutions: large filters, small images, several filters each
    {"data": (12, 12, 16), "kernel": (5, 5)},
    {"data": (6, 6, 40), "kernel": (5, 5), "activation": _RELU},
    {"data": (4, 4, 48), "kernel": (7, 7)},
    {"data": (3, 3, 64), "kernel": (5, 5)},
    {"data": (16, 14, 12), "kernel": (7, 7), "strides": (2, 2)},
    {"data": (24, 20, 1), "kernel": (10, 8), "strides": (2, 2), "multiplier": 8},
    {"data": (20, 18, 1), "multiplier": 4},
    {"data": (10, 10, 8), "multiplier": 2, "activation": _RELU},
    {"data": (6, 6, 72)},
    {"data": (7, 7, 24), "kernel": (3, 5)},
    {"data": (1, 60, 16), "kernel": (1, 9)},
    {"data": (24, 24, 8), "kernel": (5, 5), "strides": (2, 2)},
    {"data": (9, 9, 20), "kernel": (9, 9), "activation": _RELU},
)
_PRODUCTS = (
    {"batches": 2, "rows": 16, "depth": 16, "columns": 16},
    {"batches": 2, "rows": 12, "depth": 25, "columns": 8},
    {"batches": 1, "rows": 8, "depth": 64, "columns": 12},
    {"batches": 1, "rows": 20, "depth": 10, "columns": 20, "transposed": "b"},
    {"batches": 2, "rows": 9, "depth": 30, "columns": 7, "transposed": "b"},
    {"batches": 1, "rows": 8, "depth": 24, "columns": 12, "transposed": "a"},
    {"batches": 1, "rows": 6, "depth": 15, "columns": 9, "transposed": "ab"},
    {"batches": 1, "rows": 1, "depth": 64, "columns": 32},
    {"batches": 1, "rows": 33, "depth": 7, "columns": 5},
)
_ALONE = (  # one window with its filter for each channel
    {"data": (16, 16, 8)},
    {"data": (16, 16, 8), "strides": (2, 2)},
    {"data": (10, 10, 16), "activation": _RELU},
    {"data": (6, 9, 13)},
    {"data": (8, 7, 6), "padding": "VALID"},
    {"data": (7, 7, 24), "kernel": (5, 5)},
    {"data": (9, 9, 32), "strides": (2, 2)},
    {"data": (28, 1, 24), "kernel": (9, 1)},
)
_OVERLAPPING = (
    {"data": (8, 8, 36)},
    {"data": (6, 9, 20), "size": (2, 5), "strides": (1, 2)},
    {"data": (5, 5, 64)},
    {"data": (11, 9, 3)},
    {"data": (4, 4, 40)},
    {"data": (7, 7, 12), "size": (2, 2), "strides": (2, 2)},
    {"data": (7, 6, 32), "size": (5, 5)},
    {"data": (1, 24, 16), "size": (1, 4)},
)
_TRANSPOSED = (
    {"data": (6, 6, 16), "filters": 8},
    {"data": (5, 5, 8), "filters": 16, "kernel": (4, 4)},
    {"data": (5, 4, 10), "filters": 6, "padding": "VALID"},
    {"data": (4, 4, 7), "filters": 4, "kernel": (5, 5)},
)
_DENSE = (
    {"depth": 640, "filters": 32, "activation": _RELU},
    {"depth": 128, "filters": 128, "activation": _RELU},
    {"depth": 64, "filters": 12, "activation": _RELU},
    {"depth": 33, "filters": 13, "activation": _RELU},
    {"depth": 50, "filters": 24, "rows": 4, "activation": _RELU},
    {"depth": 20, "filters": 8, "rows": 8, "activation": _RELU},
    {"depth": 100, "filters": 20, "activation": _RELU},
    {"depth": 192, "filters": 16, "activation": _RELU},
)
_PLAIN = (
    {"depth": 128, "filters": 32},
    {"depth": 33, "filters": 13},
    {"depth": 50, "filters": 24, "rows": 4},
    {"depth": 16, "filters": 16, "activation": _RELU},
)


def of_dtype(b: Builder, dtype: DType, bits: int, *, layer: Layer, wanted: DType, few: int) -> Node:
    """The layer, if its data has the dtype and its weights have no fewer than ``few`` bits;
    otherwise a ValueError."""
    if dtype is not wanted or bits < few:
        raise ValueError(f"the layer is not of {dtype.value} with weights of {bits} bits")
    return layer(b, dtype, bits)


def _only(
    found: Mapping[str, tuple[Layer, ...]], wanted: DType = DType.INT8, few: int = 8
) -> Mapping[str, tuple[Layer, ...]]:
    """The layers, of one dtype."""
    return {
        op: tuple(
            functools.partial(of_dtype, layer=layer, wanted=wanted, few=few) for layer in each
        )
        for op, each in found.items()
    }


def _each(layer: Any, shapes: Sequence[Mapping[str, Any]], **fixed: Any) -> tuple[Layer, ...]:
    return tuple(functools.partial(layer, **{**fixed, **shape}) for shape in shapes)


def _pairs(op: str) -> tuple[Layer, ...]:
    shapes = [{"lhs": lhs, "rhs": rhs} for lhs, rhs in (*_CHANNELS, *_EQUAL)]
    return (
        *_each(elementwise.pair, shapes, op=op),
        *_each(elementwise.pair, shapes[:2], op=op, activation=_RELU),
        *_each(elementwise.pair, shapes, op=op, in_float32=True),
    )


def _inexact(op: str) -> tuple[Layer, ...]:
    """Sums or differences of which no affine function is exact for all pairs of values."""
    shapes = [{"lhs": lhs, "rhs": rhs} for lhs, rhs in (*_CHANNELS, *_EQUAL)]
    return (
        *_each(elementwise.pair, shapes, op=op, scale=_INEXACT),
        *_each(elementwise.pair, shapes[:2], op=op, scale=_INEXACT, activation=_RELU),
    )


def _squared_differences() -> tuple[Layer, ...]:
    shapes = [{"lhs": lhs, "rhs": rhs} for lhs, rhs in (*_CHANNELS, *_EQUAL)]
    return _each(elementwise.squared_difference, shapes)


def _rescaled(op: str) -> tuple[Layer, ...]:
    shapes = [{"lhs": lhs, "rhs": rhs} for lhs, rhs in (*_CHANNELS, *_EQUAL)]
    return _each(elementwise.rescaled, shapes, op=op)


def _pools(kind: str) -> tuple[Layer, ...]:
    usual: dict[str, Any] = {"kind": kind, "strides": (1, 1)}
    found = _each(layers.pool, _SMALL, **usual)
    if kind == "max":
        return found
    return (
        *found,
        *_each(layers.pool, [*_SMALL, *_WHOLE], **usual, ties_upward=True),
        *_each(layers.pool, [*_SMALL, *_WHOLE], **usual, in_float32=True),
        *_each(layers.pool, _OVERLAPPING, **usual, size=(3, 3), padding="SAME"),
    )


def _sized(layer: Any, **fixed: Any) -> tuple[Layer, ...]:
    return _each(layer, [{"size": size} for size in (16, 64, 250, 640, 1000)], **fixed)


_OF_INT8: Mapping[str, tuple[Layer, ...]] = {
    "add": _pairs("add"),
    "subtract": _pairs("subtract"),
    "multiply": _pairs("multiply"),
    "squared_difference": _squared_differences(),
    "concatenate": _each(layers.concatenate, _JOINED),
    "qnn.add": _rescaled("qnn.add"),
    "qnn.subtract": _rescaled("qnn.subtract"),
    "qnn.mul": _rescaled("qnn.mul"),
    "mean": (
        *_each(layers.mean, [{"data": data} for data in _IMAGES]),
        *_each(layers.mean, [{"data": data} for data in _IMAGES], in_float32=True),
        *_each(layers.mean, [{"data": data} for data in _IMAGES], in_rows=True),
    ),
    "nn.avg_pool2d": _pools("avg"),
    "nn.max_pool2d": _pools("max"),
    "nn.conv2d": _each(layers.conv2d, _WINDOWS, zero=3, rounding=Rounding.PRODUCT),
    "nn.conv2d_transpose": _each(layers.transposed, _TRANSPOSED, activation=_RELU),
    "nn.dense": _each(layers.dense, [*_DENSE, *_PLAIN], rounding=Rounding.UPWARD),
    "qnn.requantize": (
        *_sized(elementwise.to_uint8, moved=128),
        *_sized(elementwise.to_uint8, moved=100),
    ),
}

_OF_INT16 = {
    "nn.dense": _each(layers.dense, _PLAIN, of_int16=Rounding.REDUCED),
    **{
        op: _each(
            elementwise.pair,
            [{"lhs": lhs, "rhs": rhs} for lhs, rhs in (*_EQUAL, *_CHANNELS)],
            op=op,
            in_float32=True,
        )
        for op in ("add", "subtract", "multiply")
    },
}


def _joined(*parts: Mapping[str, tuple[Layer, ...]]) -> Mapping[str, tuple[Layer, ...]]:
    ops = dict.fromkeys(op for part in parts for op in part)
    return {op: tuple(layer for part in parts for layer in part.get(op, ())) for op in ops}


# Fitted, too.
_OF_FLOAT: Mapping[str, tuple[Layer, ...]] = {"tree_ensemble": _each(forests.trees, forests.SHAPES)}
MORE = _joined(_only(_OF_INT8), _only(_OF_INT16, DType.INT16), _only(_OF_FLOAT, DType.FLOAT32))
_OTHERS = (Rounding.UPWARD, Rounding.NEAREST, Rounding.FLOAT)
_MATRICES = [{"batches": 2, "rows": 8, "depth": 16, "columns": 8}]
_ALIKE: Mapping[str, tuple[Layer, ...]] = {
    "nn.conv2d": tuple(
        one
        for rounding in _OTHERS
        for one in (
            *_each(layers.conv2d, _WINDOWS, rounding=rounding),
            *_each(layers.conv2d, _WINDOWS[:6], rounding=rounding, zero=3),
        )
    ),
    "nn.depthwise_conv2d": tuple(
        one for rounding in _OTHERS for one in _each(layers.depthwise, _ALONE, rounding=rounding)
    ),
    "nn.conv2d_transpose": tuple(
        one
        for rounding in _OTHERS
        for one in _each(layers.transposed, _TRANSPOSED, rounding=rounding)
    ),
    "nn.dense": (
        *_each(layers.dense, _PLAIN, rounding=Rounding.SINGLE, by_channel=True),
        *(one for rounding in _OTHERS for one in _each(layers.dense, _PLAIN, rounding=rounding)),
    ),
    "nn.batch_matmul": tuple(
        one
        for rounding in ("in_float32", "rounds_once")
        for one in _each(layers.batch_matmul, _MATRICES, **{rounding: True})
    ),
}
# Of kernels that are measured as another: only compared with its costs.
ALIKE = _only(_ALIKE, few=4)

_LATER: Mapping[str, tuple[Layer, ...]] = {
    "nn.conv2d": (
        *_each(layers.conv2d, _TAPS),
        *_each(layers.conv2d, _TAPS, rounding=Rounding.UPWARD),
        *_each(layers.conv2d, _TAPS, rounding=Rounding.UPWARD, activation=_RELU),
        *_each(layers.conv2d, _TAPS[:9:4], activation=_RELU),
    ),
    "nn.batch_matmul": _each(layers.batch_matmul, _PRODUCTS),
    "nn.conv2d_transpose": _each(layers.transposed, _PHASES),
    "nn.depthwise_conv2d": _each(layers.depthwise, _STRIPS),
    "add": _inexact("add"),
    "subtract": _inexact("subtract"),
}
_LATER_ALIKE: Mapping[str, tuple[Layer, ...]] = {
    "nn.conv2d": (
        *_each(layers.conv2d, _TAPS[:6], rounding=Rounding.FLOAT),
        *_each(layers.conv2d, _TAPS[:6], rounding=Rounding.FLOAT, activation=_RELU),
    ),
}
# As MORE and ALIKE, after all other layers: samples name layers by their numbers.
LATER = _joined(
    _only(_LATER),
    _only({"nn.batch_matmul": _each(layers.batch_matmul, _PRODUCTS)}, DType.FLOAT32),
)
LATER_ALIKE = _only(_LATER_ALIKE)
