"""take: the parts of an axis that indices name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microgen.ir.graph import Array, Attrs, DType, TensorType
from microgen.ops.base import Op, Operands, Shape
from microgen.ops.constraints import unchanged_constraint


@dataclass(frozen=True, slots=True)
class TakeAttrs(Attrs):
    """Inputs: int8 data; int32 indices of any shape, from 0 to the axis's size - 1. ``axis``
    counts from the front."""

    axis: int


def infer(attrs: TakeAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The data's shape, with that of the indices in place of the axis."""
    if len(inputs) != 2:
        raise ValueError(f"take has {len(inputs)} inputs; data and indices are expected")
    data, indices = inputs
    if not 0 <= attrs.axis < len(data.shape):
        raise ValueError(f"the axis is {attrs.axis}; the data is {data}")
    return ((*data.shape[: attrs.axis], *indices.shape, *data.shape[attrs.axis + 1 :]),)


def check(
    _attrs: TakeAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int8, quantization unchanged; int32 indices."""
    if inputs[1].dtype is not DType.INT32:
        return f"the indices are {inputs[1]}; they must be int32"
    return unchanged_constraint(inputs[0], outputs[0])


def reference(attrs: TakeAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/gather.h, Gather."""
    data, indices = operands.inputs
    return (data.take(indices, attrs.axis),)


def parts(_attrs: TakeAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("take",)


OP = Op("take", TakeAttrs, infer, check, reference, parts)
