"""Shared by ops that read indices which may count from the end of an axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from microgen.graph.ir.graph import Array, DType, TensorType
from microgen.graph.ops.base import StatusError
from microgen.graph.ops.moves.take import OUTSIDE


def from_front(name: str, indices: Array, sizes: Array) -> Array:
    """The indices, int64, counted from the front; ``sizes`` broadcasts to them. Raises StatusError
    for an index that is not from -size to size - 1."""
    outside = (indices < -sizes) | (indices >= sizes)
    if outside.any():
        size = int(np.broadcast_to(sizes, indices.shape)[outside][0])
        raise StatusError(
            f"{name} has indices from {indices.min()} to {indices.max()}",
            OUTSIDE,
            position=0,
            among=indices,
            wrong=outside,
            allowed=f"from {-size} to {size - 1}",
        )
    wide = indices.astype(np.int64)
    return np.where(wide < 0, wide + sizes, wide)


def check(
    _attrs: object, inputs: Sequence[TensorType], outputs: Sequence[TensorType]
) -> str | None:
    """int32 or int64 indices, and plain int32 positions."""
    if inputs[0].dtype not in (DType.INT32, DType.INT64):
        return f"the indices are {inputs[0]}; they must be int32 or int64"
    if outputs[0].dtype is not DType.INT32 or outputs[0].quant is not None:
        return f"the positions are {outputs[0]}; they must be plain int32"
    return None
