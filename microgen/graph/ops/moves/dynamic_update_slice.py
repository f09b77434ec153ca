"""dynamic_update_slice: a tensor, part of which is replaced by another, at computed indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, DType, TensorType
from microgen.graph.ops import bounds
from microgen.graph.ops.base import Op, Operands, Shape
from microgen.graph.ops.constraints import EVERY_DTYPE, unchanged_constraint
from microgen.graph.ops.cost import moved


@dataclass(frozen=True, slots=True)
class DynamicUpdateSliceAttrs(Attrs):
    """Inputs: data of any dtype; an update with as many axes, none longer than the data's; the
    int32 index of its first element in the data, one number for each axis. An index with which the
    update would not be inside the data is moved to the nearest that is possible."""


def infer(_attrs: DynamicUpdateSliceAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The data's shape."""
    if len(inputs) != 3:
        raise ValueError(f"there are {len(inputs)} inputs; data, update and index are expected")
    data, update, index = inputs
    is_inside = len(update.shape) == len(data.shape) and all(
        own <= size for own, size in zip(update.shape, data.shape, strict=True)
    )
    if not is_inside or not data.shape:
        raise ValueError(f"the update {update} does not fit into {data}")
    if index.shape != (len(data.shape),):
        raise ValueError(f"the index is {index}; one number for each axis of {data} is expected")
    return (data.shape,)


def check(
    _attrs: DynamicUpdateSliceAttrs, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """Dtype and quantization are those of data and update; an int32 index."""
    data, update, index = inputs
    if index.dtype is not DType.INT32:
        return f"the index is {index}; it must be int32"
    return unchanged_constraint(data, outputs[0], EVERY_DTYPE) or unchanged_constraint(
        update, outputs[0], EVERY_DTYPE
    )


def reference(_attrs: DynamicUpdateSliceAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: TFLite dynamic_update_slice.cc, ClampStartIndices and DynamicUpdateSlice."""
    data, update, index = operands.inputs
    first = np.clip(index, 0, np.subtract(data.shape, update.shape))
    result = data.copy()
    result[tuple(slice(a, a + n) for a, n in zip(first, update.shape, strict=True))] = update
    return (result,)


def parts(_attrs: DynamicUpdateSliceAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("dynamic_update_slice",)


OP = Op(
    "dynamic_update_slice",
    DynamicUpdateSliceAttrs,
    infer,
    check,
    reference,
    parts,
    cost=moved,
    bound=bounds.moves(reference, (0, 1)),
)
