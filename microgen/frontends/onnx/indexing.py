"""Indices that may count from the end, as positions of elements or of rows."""

from __future__ import annotations

from collections.abc import Sequence

from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.moves.indexed import AxisPositionsAttrs, NdPositionsAttrs


def indices_of(node: OnnxNode, position: int) -> Tensor:
    """An operand that is indices."""
    found = node.tensor(position)
    node.expect(found, DType.INT32, DType.INT64)
    return found


def of_tuples(node: OnnxNode, indices: Tensor, shape: Sequence[int]) -> Tensor:
    """The int32 position, in row-major order of ``shape``, for each tuple of indices, which is the
    last axis. ModelError for constant indices outside."""
    attrs = NdPositionsAttrs(tuple(shape))
    return _inside(node, node.emit("nd_positions", attrs, (indices,), dtype=DType.INT32), indices)


def along(node: OnnxNode, indices: Tensor, shape: Sequence[int], axis: int) -> Tensor:
    """The int32 position, in row-major order of ``shape``, of the element for each index along the
    axis. ModelError for constant indices outside."""
    attrs = AxisPositionsAttrs(tuple(shape), axis)
    return _inside(node, node.emit("axis_positions", attrs, (indices,), dtype=DType.INT32), indices)


def _inside(node: OnnxNode, positions: Tensor, indices: Tensor) -> Tensor:
    if indices.value is not None and positions.value is None:
        low, high = indices.value.min(), indices.value.max()
        raise node.invalid(f"has indices from {low} to {high}, which are not all inside the data")
    return positions
