"""nd_positions: tuples of indices as positions in a tensor whose elements are in one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Attrs, TensorType
from microgen.graph.ops.base import Op, Operands, Shape, one_input
from microgen.graph.ops.moves import indices


@dataclass(frozen=True, slots=True)
class NdPositionsAttrs(Attrs):
    """Input: int32 or int64 indices. Their last axis has one number for each axis of ``shape``,
    from -size to size - 1; negative ones count from the end. Output: int32."""

    shape: Shape


def infer(attrs: NdPositionsAttrs, inputs: Sequence[TensorType]) -> tuple[Shape, ...]:
    """The shape of the indices without their last axis."""
    found = one_input("nd_positions", inputs)
    if not found.shape or not attrs.shape or found.shape[-1] != len(attrs.shape):
        raise ValueError(
            f"the indices are {found}; their last axis must have {len(attrs.shape)} numbers"
        )
    return (found.shape[:-1],)


def reference(attrs: NdPositionsAttrs, operands: Operands) -> tuple[Array, ...]:
    """Source: ONNX, GatherND and ScatterND: row-major order."""
    found = indices.from_front("nd_positions", operands.inputs[0], np.array(attrs.shape))
    flat = np.zeros(found.shape[:-1], np.int64)
    for axis, size in enumerate(attrs.shape):
        flat = flat * size + found[..., axis]
    return (np.asarray(flat, np.int32),)


def parts(_attrs: NdPositionsAttrs, _n_inputs: int) -> tuple[str, ...]:
    """The words of the primitive function's name."""
    return ("nd_positions",)


OP = Op("nd_positions", NdPositionsAttrs, infer, indices.check, reference, parts)
