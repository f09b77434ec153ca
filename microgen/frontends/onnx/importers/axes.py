"""Operators along an axis: softmax, running sums and products, the best values."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from microgen.frontends.layouts import axis_last
from microgen.frontends.onnx import move_nodes
from microgen.frontends.onnx.composing import cast, compared
from microgen.frontends.onnx.importers import Importer, arguments
from microgen.frontends.onnx.importers.moves.gathering import taken_along
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.graph.builder import BuiltTensor, Value
from microgen.graph.ir.graph import Attrs, DType
from microgen.graph.ops.detection.suppression import AllClassSuppressionAttrs
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs, TopKAttrs
from microgen.graph.ops.reductions.running import DTYPES, CumprodAttrs, CumsumAttrs
from microgen.graph.ops.reductions.softmax import LogSoftmaxAttrs, SoftmaxAttrs

_Rows = Callable[[OnnxNode, BuiltTensor], BuiltTensor]
_ONE_AXIS = 13  # since this opset only this axis is meant; before, all axes from it on


def _along_an_axis(rows: _Rows) -> Importer:
    """The importer of an operator on ``rows`` along the last axis."""

    def importer(node: OnnxNode) -> BuiltTensor:
        data = node.tensor(0, DType.FLOAT32)
        rank, is_flat = len(data.shape), node.version < _ONE_AXIS
        axis = arguments.axis(node, rank, 1 if is_flat and rank > 1 else -1 if not is_flat else 0)
        if is_flat:
            # All axes from this one on are one row.
            matrix = (math.prod(data.shape[:axis]), math.prod(data.shape[axis:]))
            return node.reshaped(rows(node, node.reshaped(data, matrix)), data.shape)
        moved, source, target = axis_last(node, data, axis)
        return node.laid_out(rows(node, moved), target, source)

    return importer


def _node(op: str, attrs: Attrs) -> _Rows:
    return lambda node, rows: node.emit(op, attrs, (rows,))


def _hardmax(node: OnnxNode, rows: BuiltTensor) -> BuiltTensor:
    """1 at the first of the greatest values, otherwise 0."""
    attrs = ArgMaxAttrs(len(rows.shape) - 1)
    # argmax finds the first of equal values, so only one element of a row is 1.
    which = node.emit("argmax", attrs, (rows,), dtype=DType.INT32)
    column = node.reshaped(which, (*which.shape, 1))
    places = node.constant(np.arange(rows.shape[-1], dtype=np.int32), "places")
    return cast(node, compared(node, "equal", column, places), DType.FLOAT32)


def _running(op: str, attrs: type[CumsumAttrs] | type[CumprodAttrs]) -> Importer:
    def importer(node: OnnxNode) -> BuiltTensor:
        data = node.tensor(0, *DTYPES)
        stated = node.constant_of(1, "axis")
        if stated.size != 1 or not data.shape:
            raise node.invalid(f"has {stated.size} axes for {data.type}; one is expected")
        axis = arguments.checked_axis(node, int(stated.reshape(())), len(data.shape))
        exclusive, reverse = (bool(node.attr(name, 0)) for name in ("exclusive", "reverse"))
        return node.emit(op, attrs(axis, exclusive, reverse), (data,))

    return importer


def _topk(node: OnnxNode) -> Value:
    """The positions of the best values, always sorted by value, and these values."""
    data = node.tensor(0)
    rank = len(data.shape)
    axis = arguments.axis(node, rank, -1)
    declared = arguments.declared_sizes(node, 1, (axis,), rank) if rank else None
    if node.version < 10:
        k = int(node.attr("k"))
    else:
        (k,) = declared or (int(move_nodes.number_of(node, 1, "number of values")),)
    attrs = TopKAttrs(axis, k, bool(node.attr("largest", 1)))
    places = node.emit("topk", attrs, (data,), dtype=DType.INT64, quant=None)
    return taken_along(node, data, places, axis), places


def _non_max_suppression(node: OnnxNode) -> BuiltTensor:
    """The output has a row for each box that may be chosen, or as many rows as the model declares.
    Rows without a box contain -1, which other operators read as the index of the last element.
    """
    boxes, scores = node.tensor(0, DType.FLOAT32), node.tensor(1)
    most = _number(node, 2, "number of boxes")
    if not most or most < 1 or len(scores.shape) != 3:
        raise node.unsupported(
            f"chooses {most or 0:g} boxes of each class, by scores {scores.type}",
            supported="one or more of scores [batches, classes, boxes]",
        )
    attrs = AllClassSuppressionAttrs(
        # No class can have more boxes than there are.
        min(int(most), scores.shape[2]),
        _number(node, 3, "threshold") or 0.0,
        _number(node, 4, "threshold"),
        bool(node.attr("center_point_box", 0)),
    )
    name = "vision.all_class_non_max_suppression"
    rows = node.emit(name, attrs, (boxes, scores), dtype=DType.INT64, quant=None)
    declared = node.declared_for(0)
    if declared is None or len(declared) != 2 or declared[0] >= rows.shape[0]:
        return rows
    return move_nodes.cut(node, rows, 0, 0, declared[0])


def _number(node: OnnxNode, position: int, what: str) -> float | None:
    """A number that is a constant operand; None if it is left out."""
    value = node.optional_constant(position, what)
    if value is None or not value.size:
        return None
    return float(move_nodes.number_of(node, position, what))


IMPORTERS = {
    "Hardmax": _along_an_axis(_hardmax),
    "LogSoftmax": _along_an_axis(_node("nn.log_softmax", LogSoftmaxAttrs())),
    "Softmax": _along_an_axis(_node("nn.softmax", SoftmaxAttrs(1.0))),
    "CumProd": _running("cumprod", CumprodAttrs),
    "CumSum": _running("cumsum", CumsumAttrs),
    "NonMaxSuppression": _non_max_suppression,
    "TopK": _topk,
}
