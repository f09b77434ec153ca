"""axis_positions: indices along one axis as positions in a tensor whose elements are in one row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.moves import indices


@dataclass(frozen=True, slots=True)
class AxisPositionsAttrs(Attrs):
    """Input: int32 or int64 indices with the axes of ``shape``, from -size to size - 1 of
    ``shape[axis]``; negative ones count from the end. Along other axes they are no longer than
    ``shape``. Output: for each index the int32 position of the element of ``shape`` that has it
    along ``axis``, and the index's own place along the other axes."""

    shape: Shape
    axis: int


def infer(attrs: AxisPositionsAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The shape of the indices."""
    found, shape, axis = one_input("axis_positions", inputs), attrs.shape, attrs.axis
    if not 0 <= axis < len(shape):
        raise ValueError(f"the axis is {axis}; there are {len(shape)}")
    is_inside = len(found.shape) == len(shape) and all(
        own <= size or k == axis
        for k, (own, size) in enumerate(zip(found.shape, shape, strict=True))
    )
    if not is_inside:
        raise ValueError(
            f"the indices are {found}; apart from axis {axis} they must fit into {list(shape)}"
        )
    return (found.shape,)


def reference(attrs: AxisPositionsAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: ONNX, GatherElements and ScatterElements."""
    given, shape, axis = operands.inputs[0], attrs.shape, attrs.axis
    found = indices.from_front("axis_positions", given, np.array(shape[axis]))
    flat = found * math.prod(shape[axis + 1 :])
    for k, size in enumerate(given.shape):
        if k != axis:
            places = np.arange(size) * math.prod(shape[k + 1 :])
            flat += places.reshape([-1 if i == k else 1 for i in range(len(shape))])
    return (np.asarray(flat, np.int32),)


def parts(_attrs: AxisPositionsAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("axis_positions",)


OP = Op("axis_positions", AxisPositionsAttrs, infer, indices.check, reference, parts)
