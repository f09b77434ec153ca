"""strided_slice: elements at regular steps along each axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.constraints import unchanged
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class StridedSliceAttrs(Attrs):
    """Input: data of any dtype. Along axis k the output has ``shape[k]`` elements: those at
    ``begin[k]``, ``begin[k] + strides[k]``, ... of the data, all inside it. A stride may be
    negative."""

    begin: tuple[int, ...]
    strides: tuple[int, ...]
    shape: Shape


def infer(attrs: StridedSliceAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
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


def reference(attrs: StridedSliceAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite reference/strided_slice.h, StridedSlice; reference/slice.h, Slice."""
    data = operands.inputs[0]
    for axis, count in enumerate(attrs.shape):
        places = attrs.begin[axis] + attrs.strides[axis] * np.arange(count)
        data = data.take(places, axis)
    return (data,)


def parts(_attrs: StridedSliceAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("strided_slice",)


OP = Op(
    "strided_slice",
    StridedSliceAttrs,
    infer,
    unchanged,
    reference,
    parts,
    cost=moved,
    bound=bounds.moves(reference),
)
