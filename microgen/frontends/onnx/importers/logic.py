"""Comparisons and logic, and what tells numbers from others. Results are bool."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from microgen.frontends.onnx import numbers as n
from microgen.frontends.onnx.nodes import OnnxNode
from microgen.frontends.tensors import Tensor
from microgen.graph.ir.graph import DType
from microgen.graph.ops.comparisons.logical import LogicalAttrs
from microgen.graph.ops.unary.functions import AbsAttrs


def _comparison(op: str, *accepted: DType) -> Callable[[OnnxNode], Tensor]:
    def importer(node: OnnxNode) -> Tensor:
        lhs, rhs = node.tensor(0), node.tensor(1)
        node.expect(lhs, *accepted)
        return n.compared(node, op, lhs, rhs)

    return importer


def _logical(op: str) -> Callable[[OnnxNode], Tensor]:
    def importer(node: OnnxNode) -> Tensor:
        tensors = node.tensors()
        for each in tensors:
            node.expect(each, DType.BOOL)
        return node.emit(op, LogicalAttrs(), tensors)

    return importer


def _is_nan(node: OnnxNode) -> Tensor:
    """NaN is the only number that differs from itself."""
    data = node.tensor(0)
    node.expect(data, DType.FLOAT32)
    return n.compared(node, "not_equal", data, data)


def _is_inf(node: OnnxNode) -> Tensor:
    data = node.tensor(0)
    node.expect(data, DType.FLOAT32)
    positive, negative = (node.attr(f"detect_{sign}", 1) for sign in ("positive", "negative"))
    if not (positive or negative):
        return node.constant(np.zeros(data.shape, np.bool_), "none")
    if positive and negative:
        data = node.emit("abs", AbsAttrs(), (data,))
    infinity = n.scalar(node, math.inf if positive else -math.inf, DType.FLOAT32)
    return n.compared(node, "equal", data, infinity)


IMPORTERS = {
    "Equal": _comparison("equal", *n.NUMBERS, DType.BOOL),
    "Greater": _comparison("greater", *n.NUMBERS),
    "GreaterOrEqual": _comparison("greater_equal", *n.NUMBERS),
    "Less": _comparison("less", *n.NUMBERS),
    "LessOrEqual": _comparison("less_equal", *n.NUMBERS),
    "And": _logical("logical_and"),
    "Or": _logical("logical_or"),
    "Xor": _comparison("not_equal", DType.BOOL),
    "Not": _logical("logical_not"),
    "IsNaN": _is_nan,
    "IsInf": _is_inf,
}
