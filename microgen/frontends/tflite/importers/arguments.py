"""The rows of the table of operators, and arguments and options that several operators have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tflite.TensorType import TensorType as TensorTypeCode

from microgen.frontends.numerics import WideSums
from microgen.frontends.tflite.layers import FileLayer
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.base import Pair


@dataclass(frozen=True, slots=True)
class Importer:
    """A row of the table of operators: the function that adds the operator's nodes, and the checks
    that precede it."""

    add: Callable[[FileLayer], Value]
    inputs: tuple[int, ...] = ()  # their accepted numbers, with one output; empty if ``add`` checks
    options: Any = None  # the schema of a table that every file has
    optional: Any = None  # the schema of a table that files may lack

    def __call__(self, layer: FileLayer) -> Value:
        """The operator's outputs."""
        # A wrong number of inputs comes first: everything after it would read other tensors.
        if self.inputs:
            layer.expect_inputs(*self.inputs)
        if self.options or self.optional:
            layer.read_options(self.options or self.optional, required=self.options is not None)
        return self.add(layer)


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
    """The profile's rounding of scaled sums. ``declared`` is the type that the options declare for
    biases."""
    # For int8 data it depends on the op, and on whether the weights, the second input, are uint8 in
    # the file. For int16 data it depends on the bias, too, or on its declared type.
    if op != "nn.dense" and layer.is_unsigned(1):
        return Rounding.PRODUCT
    if data.type.dtype is not DType.INT16:
        # The profile decides alone if the data is not int16.
        return layer.numerics.rounding[op]
    rule = layer.numerics.wide[op]
    if rule is WideSums.INT64:
        return Rounding.REDUCED
    if rule is WideSums.OWN and bias and bias[0].type.dtype in _OF_BIAS:
        return _OF_BIAS[bias[0].type.dtype]
    result = _declared_rounding(layer, declared)
    return Rounding.REAL if rule is WideSums.REAL else result


def _declared_rounding(layer: FileLayer, declared: int) -> Rounding:
    if declared not in _WIDE_ROUNDINGS:
        raise layer.invalid(
            f"declares biases of type {declared}; int32 ({TensorTypeCode.INT32}) or int64 "
            f"({TensorTypeCode.INT64}) is expected"
        )
    return _WIDE_ROUNDINGS[declared]


def plain(op: str, attrs: Attrs, inputs: int = 1, schema: Any = None) -> Importer:
    """The importer of an operator that is one node of all its inputs. ``schema`` is the operator's
    table of options, which has no fields."""
    return Importer(lambda layer: layer.computed(op, attrs), (inputs,), optional=schema)


def strides(layer: FileLayer) -> Pair:
    """(height, width), each at least 1."""
    return layer.positive_pair("StrideH", "StrideW")


def dilation(layer: FileLayer) -> Pair:
    """(height, width), each at least 1."""
    return layer.positive_pair("DilationHFactor", "DilationWFactor")


def integers(layer: FileLayer, position: int) -> tuple[int, ...]:
    """The numbers of a constant input, flat."""
    return tuple(layer.integers(position).reshape(-1).tolist())


def resolved_axis(layer: FileLayer, axis: int, rank: int) -> int:
    """An axis of a tensor with ``rank`` axes, counted from the front."""
    if not -rank <= axis < rank:
        raise layer.invalid(f"has the axis {axis}; {-rank} to {rank - 1} are expected")
    # Python's remainder is never negative.
    return axis % rank


def one_axis(layer: FileLayer, position: int, rank: int) -> int:
    """The axis that a constant input names for a tensor with ``rank`` axes. It counts from the
    front."""
    stated = integers(layer, position)
    if len(stated) != 1:
        raise layer.invalid(f"has {len(stated)} axes; one is expected")
    return resolved_axis(layer, stated[0], rank)


def cut(values: tuple[int, ...]) -> str:
    """The numbers as text for messages. If there are many, only the first ones are shown."""
    # A message needs no more of a long vector.
    shown = ", ".join(map(str, values[:8]))
    return f"[{shown}, ...]" if len(values) > 8 else f"[{shown}]"


def is_hybrid(data: BuiltTensor, weight: BuiltTensor) -> bool:
    """Whether the layer quantizes its float32 data at run time, because its weights are int8."""
    return data.type.dtype is DType.FLOAT32 and weight.type.dtype is DType.INT8
