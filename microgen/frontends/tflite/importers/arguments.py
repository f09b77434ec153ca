"""Reads arguments and options that several operators have."""

from __future__ import annotations

from collections.abc import Sequence

from tflite.TensorType import TensorType as TensorTypeCode

from microgen.frontends.numerics import WideSums
from microgen.frontends.tflite.layers import FileLayer
from microgen.frontends.tflite.options import LayerOptions
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.base import Pair

_UNDECLARED = 0  # the schema's default: FLOAT32, which is not for integer biases
_WIDE_ROUNDINGS = {
    _UNDECLARED: Rounding.REDUCED,
    TensorTypeCode.INT64: Rounding.REDUCED,
    TensorTypeCode.INT32: Rounding.DOUBLE,
}
_OF_BIAS = {DType.INT32: Rounding.DOUBLE, DType.INT64: Rounding.REDUCED}


def rounding(
    layer: FileLayer,
    op: str,
    data: BuiltTensor,
    bias: Sequence[BuiltTensor] = (),
    declared: int = _UNDECLARED,
) -> Rounding:
    """How the profile scales sums. For int8 data it depends on the op, and on whether the weights,
    the second input, are uint8 in the file; for int16 data also on ``bias``, or on the type that
    the options declare for biases."""
    if op != "nn.dense" and layer.is_unsigned(1):
        return Rounding.PRODUCT
    if data.type.dtype is not DType.INT16:
        return layer.numerics.rounding[op]
    rule = layer.numerics.wide[op]
    if rule is WideSums.INT64:
        return Rounding.REDUCED
    if rule is WideSums.OWN and bias and bias[0].type.dtype in _OF_BIAS:
        return _OF_BIAS[bias[0].type.dtype]
    found = _declared_rounding(layer, declared)
    return Rounding.REAL if rule is WideSums.REAL else found


def _declared_rounding(layer: FileLayer, declared: int) -> Rounding:
    if declared not in _WIDE_ROUNDINGS:
        raise layer.invalid(
            f"declares biases of type {declared}; int32 ({TensorTypeCode.INT32}) or int64 "
            f"({TensorTypeCode.INT64}) is expected"
        )
    return _WIDE_ROUNDINGS[declared]


def strides(layer: FileLayer, options: LayerOptions) -> Pair:
    """(height, width), each at least 1."""
    return layer.positive_pair(options, "StrideH", "StrideW")


def dilation(layer: FileLayer, options: LayerOptions) -> Pair:
    """(height, width), each at least 1."""
    return layer.positive_pair(options, "DilationHFactor", "DilationWFactor")


def integers(layer: FileLayer, position: int) -> tuple[int, ...]:
    """The numbers of a constant input, flat."""
    return tuple(layer.integers(position).reshape(-1).tolist())


def resolved_axis(layer: FileLayer, axis: int, rank: int) -> int:
    """An axis of a tensor with ``rank`` axes, counted from the front."""
    if not -rank <= axis < rank:
        raise layer.invalid(f"has the axis {axis}; {-rank} to {rank - 1} are expected")
    return axis % rank


def cut(values: tuple[int, ...]) -> str:
    """The first of many numbers, as text for messages."""
    shown = ", ".join(map(str, values[:8]))
    return f"[{shown}, ...]" if len(values) > 8 else f"[{shown}]"


def is_hybrid(data: BuiltTensor, weight: BuiltTensor) -> bool:
    """Whether the layer quantizes its float32 data at run time, because its weights are int8."""
    return data.type.dtype is DType.FLOAT32 and weight.type.dtype is DType.INT8
