"""Kernels for abs."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.unary.functions import abs_multiplier
from microgen.kernels import base
from microgen.kernels.unary import unary

OP_NAME = "abs"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), output = base.types(node, graph)
    scale, shift = abs_multiplier(data, output)
    return (*unary.size(node, graph), ("multiplier", scale), ("shift", shift))


IMPLEMENTATIONS = (
    unary.kernel("abs", DType.INT16, _params),
    unary.kernel("abs", DType.FLOAT32),
)
