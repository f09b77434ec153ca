"""Softmax, LogSoftmax and Hardmax."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from microgen.frontends.layouts import axis_last
from microgen.frontends.onnx.importers import Importer, arguments
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.comparisons.comparison import ComparisonAttrs
from microgen.graph.ops.quantization.conversions import CastAttrs
from microgen.graph.ops.reductions.extremes import ArgMaxAttrs
from microgen.graph.ops.reductions.softmax import LogSoftmaxAttrs, SoftmaxAttrs

_ONE_AXIS = 13  # since this opset the axis is the only one; before, all from the axis on were meant


def _along_an_axis(rows: Callable[[OnnxNode, Tensor], Tensor]) -> Importer:
    """The importer of an operator on ``rows`` along the last axis."""

    def importer(node: OnnxNode) -> Tensor:
        data = node.tensor(0)
        node.expect(data, DType.FLOAT32)
        rank, is_flat = len(data.shape), node.version < _ONE_AXIS
        axis = arguments.axis(node, rank, 1 if is_flat and rank > 1 else -1 if not is_flat else 0)
        if is_flat:
            matrix = (math.prod(data.shape[:axis]), math.prod(data.shape[axis:]))
            return node.reshaped(rows(node, node.reshaped(data, matrix)), data.shape)
        moved, source, target = axis_last(node, data, axis)
        return node.laid_out(rows(node, moved), target, source)

    return importer


def _softmax(node: OnnxNode, rows: Tensor) -> Tensor:
    return node.emit("nn.softmax", SoftmaxAttrs(1.0), (rows,))


def _log_softmax(node: OnnxNode, rows: Tensor) -> Tensor:
    return node.emit("nn.log_softmax", LogSoftmaxAttrs(), (rows,))


def _hardmax(node: OnnxNode, rows: Tensor) -> Tensor:
    """1 at the first of the greatest values, otherwise 0."""
    attrs = ArgMaxAttrs(len(rows.shape) - 1)
    which = node.emit("argmax", attrs, (rows,), dtype=DType.INT32)
    column = node.reshaped(which, (*which.shape, 1))
    places = node.constant(np.arange(rows.shape[-1], dtype=np.int32), "places")
    found = node.emit("equal", ComparisonAttrs(), (column, places), dtype=DType.BOOL)
    return node.emit("cast", CastAttrs(), (found,), dtype=DType.FLOAT32)


IMPORTERS = {
    "Hardmax": _along_an_axis(_hardmax),
    "LogSoftmax": _along_an_axis(_log_softmax),
    "Softmax": _along_an_axis(_softmax),
}
