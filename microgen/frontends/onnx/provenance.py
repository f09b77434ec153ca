"""The stored forms of the model's float constants, followed through ops that move values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Quant, Stored, frozen
from microgen.graph.ops import budget, registry
from microgen.graph.ops.base import Operands
from microgen.graph.ops.moves.layouts import LayoutTransformAttrs, TransposeAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs
from microgen.graph.ops.moves.views import ReshapeAttrs

_MOVES = frozenset(("layout_transform", "reshape", "strided_slice", "transpose"))


def moved(op: str, attrs: Attrs, inputs: Sequence[BuiltTensor], where: str) -> Stored | None:
    """The stored form of the output of an op of constants; None if there is none, or it is unknown.
    UnsupportedError, with ``where``, if it exceeds the budget."""
    stored = inputs[0].stored
    if stored is None or len(inputs) > 1 or op not in _MOVES:
        return None
    kind = ArrayType(tuple(stored.values.shape), DType(stored.values.dtype.name))
    try:
        (shape,) = registry()[op].infer(attrs, [kind])
    except ValueError:
        return None  # floats have no such shape, either
    quant = stored.quant
    if quant.axis is not None:
        found = _axis(attrs, kind.shape, shape, quant.axis)
        if found is None:
            return None
        quant = _along(quant, *found)
    # Moves do not look at values, so integers move as their floats would.
    output = ArrayType(shape, kind.dtype)
    (values,) = budget.evaluated(op, attrs, Operands((stored.values,), (kind,), (output,)), where)
    return Stored(frozen(values), quant, stored.is_int4)


def _axis(
    attrs: Attrs, old: tuple[int, ...], new: tuple[int, ...], axis: int
) -> tuple[int, Array] | None:
    """The axis of the output that has the scales, and for each index of this axis the index before
    the op; None if there is no such axis. The shapes are those before and after the op."""
    if isinstance(attrs, ReshapeAttrs):
        return _axis_of_view(old, new, axis)
    places = np.arange(old[axis])
    if isinstance(attrs, StridedSliceAttrs):
        return axis, attrs.begin[axis] + attrs.strides[axis] * np.arange(attrs.shape[axis])
    assert isinstance(attrs, TransposeAttrs | LayoutTransformAttrs), "the other moves"
    return attrs.axes.index(axis), places


def _axis_of_view(
    old: tuple[int, ...], new: tuple[int, ...], axis: int
) -> tuple[int, Array] | None:
    count, after = old[axis], math.prod(old[axis + 1 :])
    for position, size in enumerate(new):
        before, step = math.prod(new[:position]), math.prod(new[position + 1 :])
        # All elements at one index of this axis must come from the same index of the old one: runs
        # of ``step`` elements are inside runs of ``after``, and if the axis is gone through several
        # times, it begins at the same old index each time.
        if after % step == 0 and (before == 1 or size * step % (count * after) == 0):
            return position, np.arange(size) * step // after % count
    return None


def _along(quant: Quant, axis: int, indices: Array) -> Quant:
    scale = tuple(quant.scale[i] for i in indices)
    return Quant(scale, tuple(quant.zero_point[i] for i in indices), axis)
