"""Ops that read or write elements at positions in a tensor, or compute such positions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays, Attrs, DType, Types
from microgen.graph.ops.base import (
    OpDefinition,
    Operands,
    Shape,
    Shapes,
    StatusError,
    expect_axis,
    expect_inputs,
    one_input,
)
from microgen.graph.ops.constraints import EVERY_DTYPE, dtype_constraint, unchanged_constraint
from microgen.graph.ops.cost import elementwise
from microgen.graph.ops.moves import mover

_INDICES = (DType.INT32, DType.INT64)
OUTSIDE = 0x0803  # kTvmErrorFunctionCallInvalidArg


def expect_indices(
    what: str, indices: Array, sizes: Array | int, *, position: int, from_end: bool = False
) -> None:
    """StatusError, which says ``what`` is wrong with the input at ``position``, for an index that
    is not from 0 (or, ``from_end``, from -size) to size - 1. ``sizes`` broadcasts to the indices,
    and ``what`` may have two braces for the least and the greatest of them."""
    least = -np.asarray(sizes) if from_end else 0
    outside = (indices < least) | (indices >= sizes)
    if not outside.any():
        return
    size = int(np.broadcast_to(sizes, indices.shape)[outside][0])
    raise StatusError(
        what.format(indices.min(), indices.max()),
        OUTSIDE,
        position=position,
        among=indices,
        wrong=outside,
        allowed=f"from {-size if from_end else 0} to {size - 1}",
    )


def from_front(name: str, indices: Array, sizes: Array) -> Array:
    """The indices, int64, counted from the front; ``sizes`` broadcasts to them. Raises StatusError
    for an index that is not from -size to size - 1."""
    wrong = f"{name} has indices from {{}} to {{}}"
    expect_indices(wrong, indices, sizes, position=0, from_end=True)
    wide = indices.astype(np.int64)
    return np.where(wide < 0, wide + sizes, wide)


def indices_check(_attrs: object, inputs: Types, outputs: Types) -> str | None:
    """int32 or int64 indices, and plain int32 positions."""
    if sentence := dtype_constraint("indices", inputs[0], _INDICES, is_plural=True):
        return sentence
    if outputs[0].dtype is not DType.INT32 or outputs[0].quant is not None:
        return f"the positions are {outputs[0]}; they must be plain int32"
    return None


@dataclass(frozen=True, slots=True)
class TakeAttrs(Attrs):
    """take: the parts of an axis that indices select.

    Inputs: data of any dtype; int32 or int64 indices of any shape, each at least 0 and less than
    the axis's size.

    ``axis`` is counted from the front. The first ``batch_dims`` axes, which are before it, are
    shared by data and indices: each batch has indices of its own.
    """

    axis: int
    batch_dims: int = 0


def _take_infer(attrs: TakeAttrs, inputs: Types) -> Shapes:
    """The data's shape, in which the shape of a batch's indices replaces the axis."""
    expect_inputs(inputs, 2, "data and indices", by="take")
    (data, indices), axis, batch_dims = inputs, attrs.axis, attrs.batch_dims
    expect_axis(axis, data, "data")
    if not 0 <= batch_dims <= min(axis, len(indices.shape)):
        raise ValueError(
            f"{batch_dims} axes are batches; the axis {axis} must come after them, and the indices "
            f"{indices} must have them"
        )
    if data.shape[:batch_dims] != indices.shape[:batch_dims]:
        raise ValueError(f"{data} and {indices} differ in their first {batch_dims} axes")
    return ((*data.shape[:axis], *indices.shape[batch_dims:], *data.shape[axis + 1 :]),)


def _take_check(_attrs: TakeAttrs, inputs: Types, outputs: Types) -> str | None:
    """Dtype and quantization unchanged; int32 or int64 indices."""
    sentence = dtype_constraint("indices", inputs[1], _INDICES, is_plural=True)
    return sentence or unchanged_constraint(inputs[0], outputs[0], EVERY_DTYPE)


def _take_reference(attrs: TakeAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/gather.h, Gather. StatusError for an index outside the axis.
    data, indices = operands.inputs
    size = data.shape[attrs.axis]
    wrong = f"take has indices from {{}} to {{}}; 0 to {size - 1} are expected"
    expect_indices(wrong, indices, size, position=1)
    batches = math.prod(data.shape[: attrs.batch_dims])
    outer = math.prod(data.shape[attrs.batch_dims : attrs.axis])
    # Four axes: the batches, the axes before ``axis``, the axis itself, and the axes after it.
    places = indices.reshape(batches, 1, math.prod(indices.shape[attrs.batch_dims :]), 1)
    parts = data.reshape(batches, outer, size, math.prod(data.shape[attrs.axis + 1 :]))
    return (np.take_along_axis(parts, places, 2).reshape(operands.output_types[0].shape),)


TAKE = mover(
    "take", TakeAttrs, _take_infer, _take_reference, check=_take_check, data=(0,), cost=elementwise
)


class GatherNdAttrs(Attrs):
    """gather_nd: the elements or parts at computed indices of several axes.

    Inputs: data of any dtype; int32 indices whose last axis has one number for each of the data's
    first axes, from 0 to the axis's size - 1.
    """


def _gather_nd_infer(_attrs: GatherNdAttrs, inputs: Types) -> Shapes:
    """The shape of the indices without their last axis, then the data's axes without indices."""
    expect_inputs(inputs, 2, "data and indices", by="gather_nd")
    data, indices = inputs
    depth = indices.shape[-1] if indices.shape else 0
    if not 1 <= depth <= len(data.shape):
        raise ValueError(
            f"the indices are {indices}, the data is {data}; the indices' last axis must have 1 to "
            f"{len(data.shape)} numbers"
        )
    return ((*indices.shape[:-1], *data.shape[depth:]),)


def _gather_nd_check(_attrs: GatherNdAttrs, inputs: Types, outputs: Types) -> str | None:
    """Dtype and quantization unchanged; int32 indices."""
    sentence = dtype_constraint("indices", inputs[1], (DType.INT32,), is_plural=True)
    return sentence or unchanged_constraint(inputs[0], outputs[0], EVERY_DTYPE)


def _gather_nd_reference(_attrs: GatherNdAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/reference_ops.h, GatherNd. StatusError for an index outside its axis.
    # TFLite accepts one past the end if the element is still inside the data.
    data, indices = operands.inputs
    sizes = np.array(data.shape[: indices.shape[-1]])
    wrong = f"gather_nd has indices outside of {operands.input_types[0]}"
    expect_indices(wrong, indices, sizes, position=1)
    return (data[tuple(np.moveaxis(indices, -1, 0))],)


GATHER_ND = mover(
    "gather_nd",
    GatherNdAttrs,
    _gather_nd_infer,
    _gather_nd_reference,
    check=_gather_nd_check,
    data=(0,),
    cost=elementwise,
)


@dataclass(frozen=True, slots=True)
class AxisPositionsAttrs(Attrs):
    """axis_positions: indices along one axis as positions in a tensor whose elements are in one
    row.

    Input: int32 or int64 indices with the axes of ``shape``, from -size to size - 1 of
    ``shape[axis]``; negative ones count from the end. Along other axes they are no longer than
    ``shape``. Output: for each index, the int32 position of an element in a tensor of ``shape``.
    Along ``axis``, the element's coordinate is the index; along the other axes, it is the index's
    own place.
    """

    shape: Shape
    axis: int


def _axis_positions_infer(attrs: AxisPositionsAttrs, inputs: Types) -> Shapes:
    """The shape of the indices."""
    indices, shape, axis = one_input("axis_positions", inputs), attrs.shape, attrs.axis
    if not 0 <= axis < len(shape):
        raise ValueError(f"the axis is {axis}; there are {len(shape)}")
    is_inside = len(indices.shape) == len(shape) and all(
        own <= size or k == axis
        for k, (own, size) in enumerate(zip(indices.shape, shape, strict=True))
    )
    if not is_inside:
        raise ValueError(
            f"the indices are {indices}; apart from axis {axis} they must fit into {list(shape)}"
        )
    return (indices.shape,)


def _axis_positions_reference(attrs: AxisPositionsAttrs, operands: Operands) -> Arrays:
    # Source: ONNX, GatherElements and ScatterElements.
    indices, shape, axis = operands.inputs[0], attrs.shape, attrs.axis
    positions = from_front("axis_positions", indices, np.array(shape[axis]))
    flat = positions * math.prod(shape[axis + 1 :])
    for k, size in enumerate(indices.shape):
        if k != axis:
            places = np.arange(size) * math.prod(shape[k + 1 :])
            flat += places.reshape([-1 if i == k else 1 for i in range(len(shape))])
    return (np.asarray(flat, np.int32),)


AXIS_POSITIONS = OpDefinition(
    "axis_positions",
    AxisPositionsAttrs,
    _axis_positions_infer,
    indices_check,
    _axis_positions_reference,
)


@dataclass(frozen=True, slots=True)
class NdPositionsAttrs(Attrs):
    """nd_positions: tuples of indices as positions in a tensor whose elements are in one row.

    Input: int32 or int64 indices. Their last axis has one number for each axis of ``shape``, from
    -size to size - 1; negative ones count from the end. Output: int32.
    """

    shape: Shape


def _nd_positions_infer(attrs: NdPositionsAttrs, inputs: Types) -> Shapes:
    """The shape of the indices without their last axis."""
    indices = one_input("nd_positions", inputs)
    if not indices.shape or not attrs.shape or indices.shape[-1] != len(attrs.shape):
        raise ValueError(
            f"the indices are {indices}; their last axis must have {len(attrs.shape)} numbers"
        )
    return (indices.shape[:-1],)


def _nd_positions_reference(attrs: NdPositionsAttrs, operands: Operands) -> Arrays:
    # Source: ONNX, GatherND and ScatterND: row-major order.
    positions = from_front("nd_positions", operands.inputs[0], np.array(attrs.shape))
    flat = np.zeros(positions.shape[:-1], np.int64)
    for axis, size in enumerate(attrs.shape):
        flat = flat * size + positions[..., axis]
    return (np.asarray(flat, np.int32),)


ND_POSITIONS = OpDefinition(
    "nd_positions", NdPositionsAttrs, _nd_positions_infer, indices_check, _nd_positions_reference
)


OPS = (TAKE, GATHER_ND, AXIS_POSITIONS, ND_POSITIONS)
