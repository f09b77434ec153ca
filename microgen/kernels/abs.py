"""Kernels for abs."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, unary
from microgen.ops.abs import multiplier

OP_NAME = "abs"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    scale, shift = multiplier(data, output)
    return (*unary.size(node, graph), ("multiplier", scale), ("shift", shift))


IMPLEMENTATIONS = (
    unary.kernel("abs", DType.INT16, _params),
    unary.kernel("abs", DType.FLOAT32),
)
