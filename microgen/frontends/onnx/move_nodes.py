"""Nodes that several importers use to move elements: slices, parts by index, padding, broadcasts,
changes of layout; constants that are computed here; and indices that may count from the end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, checked
from microgen.graph.ir.graph import Array, ArrayType, DType
from microgen.graph.ops import budget, cost
from microgen.graph.ops.moves.indexed import AxisPositionsAttrs, NdPositionsAttrs, TakeAttrs
from microgen.graph.ops.moves.layouts import BroadcastToAttrs, ConcatenateAttrs, TransposeAttrs
from microgen.graph.ops.moves.pads import PadAttrs
from microgen.graph.ops.moves.slices import StridedSliceAttrs

MOST_AXES = 16  # of a tensor: far more than kernels take, far fewer than numpy


def shape_of(node: OnnxNode, sizes: Sequence[int], dtype: DType) -> ArrayType:
    """The type of a tensor whose sizes the model gives. ModelError or UnsupportedError unless it
    has at most ``MOST_AXES`` axes, of at least one element each, and a size that C can count."""
    if len(sizes) > MOST_AXES:
        raise node.unsupported(f"has {len(sizes)} axes", supported=f"up to {MOST_AXES}")
    if min(sizes, default=1) < 0:
        raise node.invalid(f"has the shape {list(sizes)}; no size may be negative")
    return checked(ArrayType(tuple(sizes), dtype), node.where)


def number_of(node: OnnxNode, position: int, what: str) -> float:
    """The value of an operand that is one constant number; an int if its dtype is an integer's.
    ModelError if it has several elements, or is not finite."""
    value = node.constant_of(position, what).ravel()
    if value.size != 1 or not np.isfinite(value[0]):
        raise node.invalid(f"has the {what} {value[:4].tolist()}; one finite number is expected")
    result: float = value[0].item()
    return result


def budgeted(
    node: OnnxNode, sizes: Sequence[int], dtype: DType, rule: cost.Rule = cost.elementwise
) -> ArrayType:
    """``shape_of`` for a constant that an importer is about to compute. UnsupportedError if that
    exceeds the budget; ``rule`` is the cost of such a computation."""
    kind = shape_of(node, sizes, dtype)
    budget.spend(rule(None, (), (kind,)), node.where)
    return kind


def filled(node: OnnxNode, sizes: Sequence[int], value: Array) -> BuiltTensor:
    """A constant with one value everywhere."""
    kind = budgeted(node, sizes, DType(value.dtype.name), cost.moved)
    return node.constant(np.full(kind.shape, value, kind.dtype.numpy), "filled")


def empty(node: OnnxNode, sizes: Sequence[int], dtype: DType) -> BuiltTensor:
    """A constant without elements, which other operators may join with other tensors."""
    # Types need an element on each axis, so the other sizes are checked with ones.
    shape_of(node, [max(size, 1) if size >= 0 else size for size in sizes], DType.INT8)
    return node.constant(np.empty(tuple(sizes), dtype.numpy), "empty")


def sliced(
    node: OnnxNode,
    data: BuiltTensor,
    begin: Sequence[int],
    steps: Sequence[int],
    shape: Sequence[int],
) -> BuiltTensor:
    """The elements at regular steps along each axis. There may be none."""
    if tuple(shape) == data.shape and all(step == 1 for step in steps):
        return data
    if math.prod(shape) == 0:
        return empty(node, shape, data.dtype)
    attrs = StridedSliceAttrs(tuple(begin), tuple(steps), shape_of(node, shape, data.dtype).shape)
    return node.emit("strided_slice", attrs, (data,))


def cut(
    node: OnnxNode, data: BuiltTensor, axis: int, begin: int, count: int, step: int = 1
) -> BuiltTensor:
    """The elements at regular steps along one axis."""
    rank = len(data.shape)
    begins, steps, shape = [0] * rank, [1] * rank, list(data.shape)
    begins[axis], steps[axis], shape[axis] = begin, step, count
    return sliced(node, data, begins, steps, shape)


def picked(node: OnnxNode, data: BuiltTensor, axis: int, places: Array) -> BuiltTensor:
    """The parts of an axis at constant places, int64 [count] within it. Places at regular steps
    need no table."""
    first, count = int(places[0]), len(places)
    step = int(places[1]) - first if count > 1 else 1
    if step != 0 and np.array_equal(places, first + step * np.arange(count)):
        return cut(node, data, axis, first, count, step)
    # int32 is the dtype of indices in C, and the places are within the axis.
    table = node.constant(places.astype(np.int32), "indices")
    return node.emit("take", TakeAttrs(axis), (data, table))


def broadcast(node: OnnxNode, data: BuiltTensor, shape: Sequence[int]) -> BuiltTensor:
    """The data repeated to the shape."""
    if data.shape == tuple(shape):
        return data
    return node.emit("broadcast_to", BroadcastToAttrs(tuple(shape)), (data,))


def reordered(node: OnnxNode, data: BuiltTensor, axes: Sequence[int]) -> BuiltTensor:
    """As ``transposed``, but as a node in any case, unless the order is unchanged."""
    if tuple(axes) == tuple(range(len(data.shape))):
        return data
    return node.emit("transpose", TransposeAttrs(tuple(axes)), (data,))


def flipped(node: OnnxNode, data: BuiltTensor, axes: Sequence[int]) -> BuiltTensor:
    """The data with some axes in the opposite order."""
    shape = data.shape
    begin = tuple(n - 1 if a in axes else 0 for a, n in enumerate(shape))
    strides = tuple(-1 if a in axes else 1 for a in range(len(shape)))
    if max((shape[a] for a in axes), default=1) == 1:
        return data
    return node.emit("strided_slice", StridedSliceAttrs(begin, strides, shape), (data,))


def padded(
    node: OnnxNode, data: BuiltTensor, pads: Sequence[tuple[int, int]], value: float = 0.0
) -> BuiltTensor:
    """The data with cells before and after each axis; negative numbers remove cells."""
    # Cells are removed first, so that padding is added to the remaining cells only.
    removed = [(max(-b, 0), max(-a, 0)) for b, a in pads]
    for axis, (before, after) in enumerate(removed):
        data = cut(node, data, axis, before, data.shape[axis] - before - after)
    added = tuple((max(b, 0), max(a, 0)) for b, a in pads)
    if not any(map(any, added)):
        return data
    stored = value if data.dtype is DType.FLOAT32 else int(value)
    return node.emit("nn.pad", PadAttrs(added, stored), (data,))


def joined(node: OnnxNode, parts: Sequence[BuiltTensor], axis: int) -> BuiltTensor:
    """Tensors one after the other along an axis."""
    if len(parts) == 1:
        return parts[0]
    return node.emit("concatenate", ConcatenateAttrs(axis), parts)


def transposed(node: OnnxNode, data: BuiltTensor, axes: Sequence[int]) -> BuiltTensor:
    """The data with its axes in another order. If only axes of size 1 move, it is a view."""
    moving = [axis for axis in axes if data.shape[axis] != 1]
    if moving == sorted(moving):
        return node.reshaped(data, tuple(data.shape[axis] for axis in axes))
    return node.emit("transpose", TransposeAttrs(tuple(axes)), (data,))


# Indices that may count from the end, as positions of elements or of rows.


def indices_of(node: OnnxNode, position: int) -> BuiltTensor:
    """An operand that is indices."""
    indices = node.tensor(position)
    node.expect(indices, DType.INT32, DType.INT64)
    return indices


def of_tuples(node: OnnxNode, indices: BuiltTensor, shape: Sequence[int]) -> BuiltTensor:
    """The int32 position, in row-major order of ``shape``, for each tuple of indices, which is the
    last axis. ModelError for constant indices outside."""
    attrs = NdPositionsAttrs(tuple(shape))
    return _inside(node, node.emit("nd_positions", attrs, (indices,), dtype=DType.INT32), indices)


def along(node: OnnxNode, indices: BuiltTensor, shape: Sequence[int], axis: int) -> BuiltTensor:
    """The int32 position, in row-major order of ``shape``, of the element for each index along the
    axis. ModelError for constant indices outside."""
    attrs = AxisPositionsAttrs(tuple(shape), axis)
    return _inside(node, node.emit("axis_positions", attrs, (indices,), dtype=DType.INT32), indices)


def _inside(node: OnnxNode, positions: BuiltTensor, indices: BuiltTensor) -> BuiltTensor:
    # Constant indices are folded, unless one is outside: then the op fails, and remains a node.
    if indices.value is not None and positions.value is None:
        low, high = indices.value.min(), indices.value.max()
        raise node.invalid(f"has indices from {low} to {high}, which are not all inside the data")
    return positions
