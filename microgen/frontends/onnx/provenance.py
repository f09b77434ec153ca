"""The stored forms of the model's float constants, followed through ops that move values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.graph.builder import BuiltTensor, Stored
from microgen.graph.ir.graph import Array, ArrayType, Attrs, DType, Quant
from microgen.graph.ops import registry
from microgen.graph.ops.base import Operands

_MOVES = frozenset(("layout_transform", "reshape", "strided_slice", "transpose"))


def moved(
    op: str, attrs: Attrs, inputs: Sequence[BuiltTensor], output: BuiltTensor
) -> Stored | None:
    """The stored form of the output of an op of constants; None if it is unknown."""
    stored = inputs[0].stored
    if stored is None or output.value is None or op not in _MOVES:
        return None
    # Moves do not look at values, so integers move as their floats did.
    values = _evaluated(op, attrs, stored.values)
    quant = stored.quant
    if quant.axis is not None:
        axis = _axis(op, attrs, values.shape, stored)
        if axis is None:
            return None
        quant = _along(quant, *axis)
    return Stored(values, quant, stored.is_int4)


def _evaluated(op: str, attrs: Attrs, values: Array) -> Array:
    kind = ArrayType(tuple(values.shape), DType(values.dtype.name))
    (shape,) = registry()[op].infer(attrs, [kind])
    output = ArrayType(shape, kind.dtype)
    (result,) = registry()[op].reference(attrs, Operands((values,), (kind,), (output,)))
    return result


def _axis(
    op: str, attrs: Attrs, shape: tuple[int, ...], stored: Stored
) -> tuple[int, Array] | None:
    """The output's axis of the scales, and for each of its indices the index before the move; None
    if there is no such axis."""
    axis = stored.quant.axis
    assert axis is not None
    count = len(stored.quant.scale)
    along = [1] * stored.values.ndim
    along[axis] = count
    # The op moves the indices as it moves the values.
    numbers = np.broadcast_to(np.arange(count, dtype=np.int32).reshape(along), stored.values.shape)
    places = _evaluated(op, attrs, np.ascontiguousarray(numbers))
    for new in range(len(shape)):
        first = np.moveaxis(places, new, 0).reshape(shape[new], -1)
        # All elements at one index of this axis must come from the same index of the old axis.
        if (first == first[:, :1]).all():
            return new, first[:, 0]
    return None


def _along(quant: Quant, axis: int, indices: Array) -> Quant:
    scale = tuple(quant.scale[i] for i in indices)
    return Quant(scale, tuple(quant.zero_point[i] for i in indices), axis)
