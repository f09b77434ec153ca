"""Kernels for sigmoid."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, unary
from microgen.ops import sigmoid
from microgen.ops.sigmoid import parameters

OP_NAME = "sigmoid"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    p = parameters(data)
    return (*unary.size(node, graph), ("multiplier", p.multiplier), ("shift", p.shift))


KERNELS = (
    unary.kernel("sigmoid", DType.INT16, _params),
    unary.kernel("sigmoid", DType.FLOAT32, ulps=sigmoid.ULPS),
)
