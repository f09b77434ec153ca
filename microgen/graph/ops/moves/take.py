"""take: the parts of an axis that indices select."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape, StatusError
from microgen.graph.ops.constraints import EVERY_DTYPE, unchanged_constraint

OUTSIDE = 0x0803  # kTvmErrorFunctionCallInvalidArg


@dataclass(frozen=True, slots=True)
class TakeAttrs(Attrs):
    """Inputs: data of any dtype; int32 or int64 indices of any shape, each at least 0 and less
    than the axis's size.

    ``axis`` is counted from the front. The first ``batch_dims`` axes, which are before it, are
    shared by data and indices: each batch has indices of its own.
    """

    axis: int
    batch_dims: int = 0


def infer(attrs: TakeAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The data's shape, with that of a batch's indices in place of the axis."""
    if len(inputs) != 2:
        raise ValueError(f"take has {len(inputs)} inputs; data and indices are expected")
    (data, indices), axis, batch_dims = inputs, attrs.axis, attrs.batch_dims
    if not 0 <= axis < len(data.shape):
        raise ValueError(f"the axis is {axis}; the data is {data}")
    if not 0 <= batch_dims <= min(axis, len(indices.shape)):
        raise ValueError(
            f"{batch_dims} axes are batches; the axis {axis} must come after them, and the indices "
            f"{indices} must have them"
        )
    if data.shape[:batch_dims] != indices.shape[:batch_dims]:
        raise ValueError(f"{data} and {indices} differ in their first {batch_dims} axes")
    return ((*data.shape[:axis], *indices.shape[batch_dims:], *data.shape[axis + 1 :]),)


def check(
    _attrs: TakeAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """Dtype and quantization unchanged; int32 or int64 indices."""
    if inputs[1].dtype not in (DType.INT32, DType.INT64):
        return f"the indices are {inputs[1]}; they must be int32 or int64"
    return unchanged_constraint(inputs[0], outputs[0], EVERY_DTYPE)


def reference(attrs: TakeAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/gather.h, Gather. StatusError for an index outside the axis."""
    data, indices = operands.inputs
    size = data.shape[attrs.axis]
    outside = (indices < 0) | (indices >= size)
    if outside.any():
        raise StatusError(
            f"take has indices from {indices.min()} to {indices.max()}; 0 to {size - 1} are "
            "expected",
            OUTSIDE,
            position=1,
            among=indices,
            wrong=outside,
            allowed=f"from 0 to {size - 1}",
        )
    batches = math.prod(data.shape[: attrs.batch_dims])
    outer = math.prod(data.shape[attrs.batch_dims : attrs.axis])
    places = indices.reshape(batches, 1, math.prod(indices.shape[attrs.batch_dims :]), 1)
    parts = data.reshape(batches, outer, size, math.prod(data.shape[attrs.axis + 1 :]))
    return (np.take_along_axis(parts, places, 2).reshape(operands.output_types[0].shape),)


def parts(_attrs: TakeAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("take",)


OP = Op("take", TakeAttrs, infer, check, reference, parts, bound=bounds.moves(reference, (0,)))
