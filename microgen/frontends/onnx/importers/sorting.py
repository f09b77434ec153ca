"""Operators that choose the best values."""

from __future__ import annotations

from microgen.frontends.onnx import moves
from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.importers.moves.gathering import taken_along
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor, Value
from microgen.graph.ir.graph import DType
from microgen.graph.ops.detection.suppression import AllClassSuppressionAttrs
from microgen.graph.ops.reductions.extremes import TopKAttrs


def _topk(node: OnnxNode) -> Value:
    """The positions, always sorted, and the values at them."""
    data = node.tensor(0)
    axis, declared = arguments.axis(node, len(data.shape), -1), node.declared_for(1)
    if node.version < 10:
        k = int(node.attr("k"))
    elif declared is not None and len(declared) == len(data.shape) > 0:
        k = declared[axis]
    else:
        k = int(moves.number_of(node, 1, "number of values"))
    attrs = TopKAttrs(axis, k, bool(node.attr("largest", 1)))
    places = node.emit("topk", attrs, (data,), dtype=DType.INT64, quant=None)
    return taken_along(node, data, places, axis), places


def _non_max_suppression(node: OnnxNode) -> Tensor:
    """As many rows as boxes may be chosen, or as the model declares. Those without a box are -1,
    which other operators read as the last element."""
    boxes, scores = node.tensor(0), node.tensor(1)
    node.expect(boxes, DType.FLOAT32)
    most = _number(node, 2, "number of boxes")
    if not most or most < 1 or len(scores.shape) != 3:
        raise node.unsupported(
            f"chooses {most or 0:g} boxes of each class, by scores {scores.type}",
            supported="one or more of scores [batches, classes, boxes]",
        )
    attrs = AllClassSuppressionAttrs(
        min(int(most), scores.shape[2]),
        _number(node, 3, "threshold") or 0.0,
        _number(node, 4, "threshold"),
        bool(node.attr("center_point_box", 0)),
    )
    name = "vision.all_class_non_max_suppression"
    found = node.emit(name, attrs, (boxes, scores), dtype=DType.INT64, quant=None)
    declared = node.declared_for(0)
    if declared is None or len(declared) != 2 or declared[0] >= found.shape[0]:
        return found
    return moves.cut(node, found, 0, 0, declared[0])


def _number(node: OnnxNode, position: int, what: str) -> float | None:
    """A number that is a constant operand; None if it is left out."""
    value = node.optional_constant(position, what)
    if value is None or not value.size:
        return None
    return float(moves.number_of(node, position, what))


IMPORTERS = {"NonMaxSuppression": _non_max_suppression, "TopK": _topk}
