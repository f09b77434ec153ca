"""Operators that return the elements or parts of a tensor that indices select."""

from __future__ import annotations

import math

import numpy as np

from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.composing import cast, chosen, compared
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.comparisons.comparison import LogicalAttrs
from microgen.graph.ops.moves.indexed import TakeAttrs


def _gather(node: OnnxNode) -> BuiltTensor:
    data, indices = node.tensor(0), move_nodes.indices_of(node, 1)
    if not data.shape:
        raise node.invalid("selects parts of a tensor without axes")
    return _parts(node, data, indices, arguments.axis(node, len(data.shape), 0))


def _parts(node: OnnxNode, data: BuiltTensor, indices: BuiltTensor, axis: int) -> BuiltTensor:
    """The parts of a tensor at indices along an axis. Constant indices at regular steps become a
    slice, which needs no table."""
    shape = (*data.shape[:axis], *indices.shape, *data.shape[axis + 1 :])
    # Concat leaves out empty parts, so importers may compute with them.
    if indices.type.size == 0 and math.prod(shape) == 0 and data.value is not None:
        return node.constant(np.empty(shape, data.dtype.numpy), "empty", data.type.quant)
    # An index along one axis is a tuple of one index.
    tuples = node.reshaped(indices, (*indices.shape, 1))
    places = move_nodes.of_tuples(node, tuples, (data.shape[axis],))
    if places.value is not None:
        flat = places.value.ravel().astype(np.int64)
        return node.reshaped(move_nodes.picked(node, data, axis, flat), shape)
    return node.emit("take", TakeAttrs(axis), (data, places))


def _gather_elements(node: OnnxNode) -> BuiltTensor:
    data = node.tensor(0)
    axis = arguments.axis(node, len(data.shape), 0)
    return taken_along(node, data, move_nodes.indices_of(node, 1), axis)


def taken_along(node: OnnxNode, data: BuiltTensor, indices: BuiltTensor, axis: int) -> BuiltTensor:
    """The element at each index along an axis, and at the index's own place along the others."""
    positions = move_nodes.along(node, indices, data.shape, axis)
    return node.emit("take", TakeAttrs(0), (node.reshaped(data, (data.type.size,)), positions))


def _gather_nd(node: OnnxNode) -> BuiltTensor:
    data, indices = node.tensor(0), move_nodes.indices_of(node, 1)
    first = int(node.attr("batch_dims", 0))
    depth = indices.shape[-1] if indices.shape else 0
    is_possible = 0 <= first < min(len(indices.shape), len(data.shape))
    if not is_possible or not 1 <= depth <= len(data.shape) - first:
        raise node.invalid(f"has indices {indices.type} of {data.type}, {first} axes are batches")
    sizes = data.shape[first : first + depth]
    positions = move_nodes.of_tuples(node, indices, sizes)
    # The indexed axes are merged to one, in which a tuple is one position.
    rows = (*data.shape[:first], math.prod(sizes), *data.shape[first + depth :])
    return node.emit("take", TakeAttrs(first, first), (node.reshaped(data, rows), positions))


def _one_hot(node: OnnxNode) -> BuiltTensor:
    """A choice between two values: "on" at the place of the index, "off" elsewhere."""
    data, values = node.tensor(0), node.tensor(2)
    rank = len(data.shape) + 1
    axis = arguments.axis(node, rank, -1)
    declared = arguments.declared_sizes(node, 1, (axis,), rank)
    (depth,) = declared or (int(move_nodes.number_of(node, 1, "depth")),)
    if depth < 1 or values.shape != (2,):
        raise node.invalid(f"has the depth {depth} and the values {values.type}; two are expected")
    move_nodes.shape_of(node, (*data.shape, depth), values.dtype)
    column = (*data.shape[:axis], 1, *data.shape[axis:])
    indices = node.reshaped(cast(node, data, DType.INT64), column)
    places = np.arange(depth).reshape([-1 if k == axis else 1 for k in range(rank)])
    # The index, or the index minus the depth: indices that are outside choose "off" everywhere.
    matches = [
        compared(node, "equal", indices, node.constant(each, "at"))
        for each in (places, places - depth)
    ]
    here = node.emit("logical_or", LogicalAttrs(), matches)
    off, on = (node.reshaped(move_nodes.cut(node, values, 0, i, 1), (1,) * rank) for i in (0, 1))
    return chosen(node, here, on, off)


IMPORTERS = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "OneHot": _one_hot,
}
