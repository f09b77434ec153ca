"""Operators that choose the best values."""

from __future__ import annotations

from microgen.frontends.onnx.importers import arguments
from microgen.frontends.onnx.importers.gathering import taken_along
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Value
from microgen.ir.graph import DType
from microgen.ops.topk import TopKAttrs


def _topk(node: OnnxNode) -> Value:
    """The positions, always sorted, and the values at them."""
    data = node.tensor(0)
    if node.version < 10:
        k = int(node.attr("k"))
    else:
        k = int(node.constant_of(1, "numbers of values").ravel()[0])
    axis = arguments.axis(node, len(data.shape), -1)
    attrs = TopKAttrs(axis, k, bool(node.attr("largest", 1)))
    places = node.emit("topk", attrs, (data,), dtype=DType.INT64, quant=None)
    return taken_along(node, data, places, axis), places


IMPORTERS = {"TopK": _topk}
