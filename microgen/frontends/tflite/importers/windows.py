"""STABLEHLO_REDUCE_WINDOW: sums, products and extremes of windows of any rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from tflite.StablehloReduceWindowOptions import StablehloReduceWindowOptions

from microgen.frontends.tflite.importers.arguments import Importer, cut
from microgen.frontends.tflite.importers.arranging import padded, spread
from microgen.frontends.tflite.layers import FileLayer
from microgen.frontends.tflite.records import OperatorRecord
from microgen.graph.arithmetic.terms import Activation
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.elementwise.addition import AddAttrs
from microgen.graph.ops.elementwise.choices import MaximumAttrs, MinimumAttrs
from microgen.graph.ops.elementwise.product import MultiplyAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs

_MOST_STEPS = 256  # operators that one window may become, so that a small file stays small


@dataclass(frozen=True, slots=True)
class Window:
    """The options: for each axis the window's size, its stride, the distance of its elements, that
    of the data's, and the values added at both ends (removed, if negative)."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    base_dilations: tuple[int, ...]
    padding: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pairing:
    """An op of two operands, and the value that changes none."""

    op: str
    attrs: Callable[[], Attrs]
    neutral: float


_SUM = Pairing("add", lambda: AddAttrs(Activation.NONE), 0)
_PRODUCT = Pairing("multiply", lambda: MultiplyAttrs(Activation.NONE), 1)
_MAXIMUM = Pairing("maximum", MaximumAttrs, -np.inf)
_MINIMUM = Pairing("minimum", MinimumAttrs, np.inf)
_BODIES = {
    **dict.fromkeys(("ADD", "STABLEHLO_ADD"), _SUM),
    **dict.fromkeys(("MUL", "STABLEHLO_MULTIPLY"), _PRODUCT),
    **dict.fromkeys(("MAXIMUM", "STABLEHLO_MAXIMUM"), _MAXIMUM),
    **dict.fromkeys(("MINIMUM", "STABLEHLO_MINIMUM"), _MINIMUM),
}


def _reduce_window(layer: FileLayer) -> BuiltTensor:
    """Each window's elements, paired one after the other, beginning with the second input."""
    # Source: LiteRT stablehlo_reduce_window.cc: the data is spread, then padded, both with the
    # initial value. The axes of a window are independent, so one follows the other here.
    data, start = layer.data(0), layer.data(1)
    layer.expect(data, DType.FLOAT32, DType.INT32, DType.INT64)
    if start.value is None or start.type.size != 1 or start.dtype is not data.dtype:
        raise layer.unsupported(
            f"begins with {start.type}", supported="one constant of the data's dtype"
        )
    window, pairing, first = _window(layer, data), _pairing(layer), start.value.item()
    for axis, factor in enumerate(window.base_dilations):
        data = spread(layer, data, axis, factor, first)
    data = _with_ends(layer, data, window.padding, first)
    for axis in range(len(data.shape)):
        data = _along(layer, data, axis, window, pairing)
    if first != pairing.neutral:
        scalar = layer.reshaped(start, ())
        return layer.emit(pairing.op, pairing.attrs(), (data, scalar), layer.output())
    return layer.emit("reshape", ReshapeAttrs(data.shape), (data,), layer.output())


def _window(layer: FileLayer, data: BuiltTensor) -> Window:
    """The options. ModelError if they do not fit the data, UnsupportedError if the window is too
    large."""
    names = ("WindowDimensions", "WindowStrides", "WindowDilations", "BaseDilations")
    rank = len(data.shape)
    found = tuple(layer.option_integers(name) or (1,) * rank for name in names)
    padding = layer.option_integers("Padding") or (0,) * (2 * rank)
    for name, numbers in zip(names, found, strict=True):
        if len(numbers) != rank or min(numbers, default=1) < 1:
            raise layer.invalid(
                f"has {name} {cut(numbers)} for {data.type}; one positive number each"
            )
    if len(padding) != 2 * rank:
        raise layer.invalid(f"has Padding {cut(padding)} for {data.type}; two numbers each")
    sizes = found[0]
    if sum(sizes) - rank > _MOST_STEPS:
        raise layer.unsupported(
            f"has windows of {cut(sizes)}",
            supported=f"windows whose sizes add up to at most {_MOST_STEPS + rank}",
        )
    return Window(found[0], found[1], found[2], found[3], padding)


def _pairing(layer: FileLayer) -> Pairing:
    """What the subgraph does with two elements."""
    (number,) = layer.subgraphs()
    body = layer.file.model.called.get(number)
    if body is None:
        raise layer.invalid(f"runs subgraph {number}, which the file does not have")
    operators = body.operators
    reads_both = len(operators) == 1 and sorted(operators[0].inputs) == sorted(body.inputs)
    is_known = reads_both and len(body.inputs) == 2 and operators[0].outputs == body.outputs
    if not is_known or operators[0].name not in _BODIES:
        raise layer.unsupported(
            f"reduces windows by {_named(operators)}",
            supported="one of ADD, MUL, MAXIMUM and MINIMUM of both elements",
        )
    return _BODIES[operators[0].name]


def _named(operators: Sequence[OperatorRecord]) -> str:
    """The names of the first operators, for a message."""
    names = [each.name for each in operators[:4]] + ["..."] * (len(operators) > 4)
    return ", ".join(names) or "no operator"


def _with_ends(
    layer: FileLayer, data: BuiltTensor, padding: tuple[int, ...], value: float
) -> BuiltTensor:
    """The data with values at the ends of its axes, or without its first and last ones."""
    pairs = tuple(zip(padding[::2], padding[1::2], strict=True))
    begin = tuple(max(0, -low) for low, _ in pairs)
    end = tuple(n - max(0, -high) for n, (_, high) in zip(data.shape, pairs, strict=True))
    if any(a >= b for a, b in zip(begin, end, strict=True)):
        raise layer.invalid(f"removes all of {data.type} by the padding {cut(padding)}")
    kept = tuple(b - a for a, b in zip(begin, end, strict=True))
    if kept != data.shape:
        cropped = StridedSliceAttrs(begin, (1,) * len(kept), kept)
        data = layer.emit("strided_slice", cropped, (data,))
    added = tuple((max(0, low), max(0, high)) for low, high in pairs)
    return padded(layer, data, added, value) if any(map(any, added)) else data


def _along(
    layer: FileLayer, data: BuiltTensor, axis: int, window: Window, pairing: Pairing
) -> BuiltTensor:
    """The windows' elements along an axis, paired."""
    size, stride, apart = window.sizes[axis], window.strides[axis], window.dilations[axis]
    whole = data.shape[axis] - (size - 1) * apart
    if whole < 1:
        raise layer.invalid(f"has a window of {size} elements, {apart} apart, for {data.type}")
    if size == stride == 1:
        return data
    parts = [_part(layer, data, axis, k * apart, whole, stride) for k in range(size)]

    def paired(lhs: BuiltTensor, rhs: BuiltTensor) -> BuiltTensor:
        return layer.emit(pairing.op, pairing.attrs(), (lhs, rhs))

    return reduce(paired, parts)


def _part(
    layer: FileLayer, data: BuiltTensor, axis: int, first: int, count: int, stride: int
) -> BuiltTensor:
    """Every ``stride``-th of ``count`` elements of an axis, from ``first`` on."""
    shape = data.shape
    begin = tuple(first if k == axis else 0 for k in range(len(shape)))
    kept = tuple(-(-count // stride) if k == axis else n for k, n in enumerate(shape))
    steps = tuple(stride if k == axis else 1 for k in range(len(shape)))
    return layer.emit("strided_slice", StridedSliceAttrs(begin, steps, kept), (data,))


IMPORTERS: dict[str, Any] = {
    "STABLEHLO_REDUCE_WINDOW": Importer(_reduce_window, (2,), StablehloReduceWindowOptions),
}
