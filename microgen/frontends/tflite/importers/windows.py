"""Sums, products and extremes of windows of any rank (STABLEHLO_REDUCE_WINDOW and its older form
REDUCE_WINDOW), and STABLEHLO_PAD, which makes the same room around and between elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from tflite.ReduceWindowFunction import ReduceWindowFunction
from tflite.ReduceWindowOptions import ReduceWindowOptions
from tflite.StablehloPadOptions import StablehloPadOptions
from tflite.StablehloReduceWindowOptions import StablehloReduceWindowOptions

from microgen.frontends.tflite.importers.arguments import Importer, cut, integers
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
_NAMES = ("WindowDimensions", "WindowStrides", "WindowDilations", "BaseDilations")
_EDGES = ("EdgePaddingLow", "EdgePaddingHigh", "InteriorPadding")
_BODIES = {
    **dict.fromkeys(("ADD", "STABLEHLO_ADD"), _SUM),
    **dict.fromkeys(("MUL", "STABLEHLO_MULTIPLY"), _PRODUCT),
    **dict.fromkeys(("MAXIMUM", "STABLEHLO_MAXIMUM"), _MAXIMUM),
    **dict.fromkeys(("MINIMUM", "STABLEHLO_MINIMUM"), _MINIMUM),
}
_FUNCTIONS: Mapping[int, Pairing] = {
    ReduceWindowFunction.ADD: _SUM,
    ReduceWindowFunction.MUL: _PRODUCT,
    ReduceWindowFunction.MINIMUM: _MINIMUM,
    ReduceWindowFunction.MAXIMUM: _MAXIMUM,
}


def _reduce_window(layer: FileLayer) -> BuiltTensor:
    rank = len(layer.data(0).shape)
    found = {name: layer.option_integers(name) or (1,) * rank for name in _NAMES}
    padding = layer.option_integers("Padding") or (0,) * (2 * rank)
    return _reduced(layer, _window(layer, found, padding), _pairing(layer))


def _old_reduce_window(layer: FileLayer) -> BuiltTensor:
    """The form whose sizes, strides and dilations are inputs. It has no padding."""
    rank = len(layer.data(0).shape)
    found = {name: integers(layer, k) for k, name in enumerate(_NAMES[:3], start=2)}
    number = layer.option("ReduceFunction")
    if number not in _FUNCTIONS:
        raise layer.unsupported(
            f"reduces windows by function {number} of ReduceWindowFunction",
            supported="ADD (1), MUL (2), MINIMUM (3) and MAXIMUM (4)",
        )
    window = _window(layer, {**found, _NAMES[3]: (1,) * rank}, (0,) * (2 * rank))
    return _reduced(layer, window, _FUNCTIONS[number])


def _reduced(layer: FileLayer, window: Window, pairing: Pairing) -> BuiltTensor:
    """Each window's elements, paired one after the other, beginning with the second input."""
    # Source: LiteRT stablehlo_reduce_window.cc: the data is spread, then padded, both with the
    # initial value. The axes of a window are independent, so one follows the other here.
    data, start = layer.data(0), layer.data(1)
    layer.expect(data, DType.FLOAT32, DType.INT32, DType.INT64)
    first = _scalar(layer, start, data, "begins")
    data = _roomy(layer, data, window.base_dilations, window.padding, first)
    for axis in range(len(data.shape)):
        data = _along(layer, data, axis, window, pairing)
    if first != pairing.neutral:
        scalar = layer.reshaped(start, ())
        return layer.emit(pairing.op, pairing.attrs(), (data, scalar), layer.output())
    return layer.emit("reshape", ReshapeAttrs(data.shape), (data,), layer.output())


def _pad(layer: FileLayer) -> BuiltTensor:
    """The data with a value between its elements, then around them. Negative edges remove."""
    # Source: LiteRT stablehlo_pad.cc, which moves stored values.
    data, filler, output = layer.data(0), layer.data(1), layer.output()
    rank = len(data.shape)
    value = _scalar(layer, filler, data, "fills")
    low, high, inner = (layer.option_integers(name) or (0,) * rank for name in _EDGES)
    if {len(low), len(high), len(inner)} != {rank} or min(inner, default=0) < 0:
        raise layer.invalid(
            f"pads {data.type} by {cut(low)}, {cut(high)} and, between elements, {cut(inner)}; "
            "one number each, 0 and more between elements, is expected"
        )
    edges = tuple(n for pair in zip(low, high, strict=True) for n in pair)
    padded_data = _roomy(layer, data, tuple(n + 1 for n in inner), edges, value)
    return layer.emit("reshape", ReshapeAttrs(padded_data.shape), (padded_data,), output)


def _scalar(layer: FileLayer, scalar: BuiltTensor, data: BuiltTensor, verb: str) -> float:
    """The number in a constant. UnsupportedError if it is not one of the data's dtype."""
    if scalar.value is None or scalar.type.size != 1 or scalar.dtype is not data.dtype:
        raise layer.unsupported(
            f"{verb} with {scalar.type}", supported="one constant of the data's dtype"
        )
    number: float = scalar.value.item()
    return number


def _roomy(
    layer: FileLayer,
    data: BuiltTensor,
    factors: tuple[int, ...],
    edges: tuple[int, ...],
    value: float,
) -> BuiltTensor:
    """The data with values between its elements, then around them."""
    for axis, factor in enumerate(factors):
        data = spread(layer, data, axis, factor, value)
    return _with_ends(layer, data, edges, value)


def _window(
    layer: FileLayer, given: Mapping[str, tuple[int, ...]], padding: tuple[int, ...]
) -> Window:
    """The window. ModelError if its numbers do not fit the data, UnsupportedError if it is too
    large."""
    data = layer.data(0)
    rank, found = len(data.shape), tuple(given[name] for name in _NAMES)
    for name, numbers in zip(_NAMES, found, strict=True):
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
    "REDUCE_WINDOW": Importer(_old_reduce_window, (5,), ReduceWindowOptions),
    "STABLEHLO_PAD": Importer(_pad, (2,), StablehloPadOptions),
    "STABLEHLO_REDUCE_WINDOW": Importer(_reduce_window, (2,), StablehloReduceWindowOptions),
}
