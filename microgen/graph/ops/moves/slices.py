"""Parts of a tensor."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Arrays, Attrs, DType, Types
from microgen.graph.ops.base import Operands, Shape, Shapes, expect_inputs, one_input
from microgen.graph.ops.constraints import all_unchanged, dtype_constraint
from microgen.graph.ops.cost import ReferenceCost, rearranged
from microgen.graph.ops.moves import mover


@dataclass(frozen=True, slots=True)
class SlideAttrs(Attrs):
    """slide: a window moved on, its oldest rows replaced by new ones at its end.

    Inputs: a window, and new rows, fewer than the window has. ``axis`` counts from the front; all
    axes before it have the size 1.
    """

    axis: int


def _slide_infer(attrs: SlideAttrs, inputs: Types) -> Shapes:
    """The window's shape."""
    expect_inputs(inputs, 2, "a window and new rows", by="slide")
    (window, rows), axis = (t.shape for t in inputs), attrs.axis
    if not 0 <= axis < len(window) or math.prod(window[:axis]) != 1:
        raise ValueError(f"the axis is {axis}; the window is {inputs[0]}")
    if len(rows) != len(window) or (*rows[:axis], *rows[axis + 1 :]) != (
        *window[:axis],
        *window[axis + 1 :],
    ):
        raise ValueError(f"{inputs[0]} and {inputs[1]} differ in more than their axis {axis}")
    if rows[axis] >= window[axis]:
        raise ValueError(f"the new rows are {inputs[1]}; fewer than {inputs[0]} are expected")
    return (window,)


def _slide_check(_attrs: SlideAttrs, inputs: Types, outputs: Types) -> str | None:
    """One dtype and quantization for all."""
    return all_unchanged(inputs, outputs[0])


def _slide_reference(attrs: SlideAttrs, operands: Operands) -> Arrays:
    """The window without its first rows, as many as there are new rows, then the new rows."""
    # Source: it is TFLite's concatenation.h, Concatenation, and strided_slice.h, StridedSlice.
    window, rows = operands.inputs
    count = window.shape[attrs.axis]
    kept = window.take(range(rows.shape[attrs.axis], count), attrs.axis)
    return (np.concatenate([kept, rows], attrs.axis),)


SLIDE = mover("slide", SlideAttrs, _slide_infer, _slide_reference, check=_slide_check)


@dataclass(frozen=True, slots=True)
class StridedSliceAttrs(Attrs):
    """strided_slice: elements at regular steps along each axis.

    Input: data of any dtype. Along axis k the output has ``shape[k]`` elements, which the data has
    at ``begin[k]``, ``begin[k] + strides[k]``, ...; all of these indices are inside the data. A
    stride may be negative.
    """

    begin: tuple[int, ...]
    strides: tuple[int, ...]
    shape: Shape


def _strided_slice_infer(attrs: StridedSliceAttrs, inputs: Types) -> Shapes:
    """``shape`` itself."""
    one_input("strided_slice", inputs)
    rank = len(inputs[0].shape)
    if any(len(values) != rank for values in (attrs.begin, attrs.strides, attrs.shape)):
        raise ValueError(f"{attrs} does not have as many axes as the input {inputs[0]}")
    sides = zip(inputs[0].shape, attrs.begin, attrs.strides, attrs.shape, strict=True)
    for axis, (size, begin, stride, count) in enumerate(sides):
        last = begin + (count - 1) * stride
        if count < 1 or not (0 <= begin < size and 0 <= last < size):
            raise ValueError(
                f"{count} elements from {begin} by steps of {stride} do not lie in axis {axis} "
                f"of the input {inputs[0]}"
            )
    return (attrs.shape,)


def _strided_slice_reference(attrs: StridedSliceAttrs, operands: Operands) -> Arrays:
    # Source: TFLite reference/strided_slice.h, StridedSlice; reference/slice.h, Slice.
    data = operands.inputs[0]
    for axis, count in enumerate(attrs.shape):
        # A numpy slice with a negative step has no number for an end before element 0.
        places = attrs.begin[axis] + attrs.strides[axis] * np.arange(count)
        data = data.take(places, axis)
    return (data,)


def _strided_slice_cost(_attrs: StridedSliceAttrs, inputs: Types, outputs: Types) -> ReferenceCost:
    """Each axis makes a copy of the one before."""
    steps = rearranged(None, inputs, outputs).steps
    return ReferenceCost(2 * inputs[0].nbytes + outputs[0].nbytes, steps)


STRIDED_SLICE = mover(
    "strided_slice",
    StridedSliceAttrs,
    _strided_slice_infer,
    _strided_slice_reference,
    cost=_strided_slice_cost,
)


class DynamicUpdateSliceAttrs(Attrs):
    """dynamic_update_slice: a tensor, part of which is replaced by another, at computed indices.

    Inputs: data of any dtype; an update with as many axes, none longer than the data's; the int32
    index of its first element in the data, one number for each axis. If the update would not be
    inside the data, the index is clamped to the nearest valid one.
    """


def _dynamic_update_slice_infer(_attrs: DynamicUpdateSliceAttrs, inputs: Types) -> Shapes:
    """The data's shape."""
    expect_inputs(inputs, 3, "data, update and index")
    data, update, index = inputs
    is_inside = len(update.shape) == len(data.shape) and all(
        own <= size for own, size in zip(update.shape, data.shape, strict=True)
    )
    if not is_inside or not data.shape:
        raise ValueError(f"the update {update} does not fit into {data}")
    if index.shape != (len(data.shape),):
        raise ValueError(f"the index is {index}; one number for each axis of {data} is expected")
    return (data.shape,)


def _dynamic_update_slice_check(
    _attrs: DynamicUpdateSliceAttrs, inputs: Types, outputs: Types
) -> str | None:
    """Dtype and quantization are those of data and update; an int32 index."""
    sentence = dtype_constraint("index", inputs[2], (DType.INT32,))
    return sentence or all_unchanged(inputs[:2], outputs[0])


def _dynamic_update_slice_reference(_attrs: DynamicUpdateSliceAttrs, operands: Operands) -> Arrays:
    # Source: TFLite dynamic_update_slice.cc, ClampStartIndices and DynamicUpdateSlice.
    data, update, index = operands.inputs
    # The last index at which the update is still inside the data.
    first = np.clip(index, 0, np.subtract(data.shape, update.shape))
    result = data.copy()
    result[tuple(slice(a, a + n) for a, n in zip(first, update.shape, strict=True))] = update
    return (result,)


DYNAMIC_UPDATE_SLICE = mover(
    "dynamic_update_slice",
    DynamicUpdateSliceAttrs,
    _dynamic_update_slice_infer,
    _dynamic_update_slice_reference,
    check=_dynamic_update_slice_check,
    data=(0, 1),
)


OPS = (SLIDE, STRIDED_SLICE, DYNAMIC_UPDATE_SLICE)
