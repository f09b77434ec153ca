"""Kernels for tanh."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, unary
from microgen.ops import tanh
from microgen.ops.tanh import parameters

OP_NAME = "tanh"


def _params(node: Node, graph: Graph) -> base.Fields:
    (data,), _ = base.types(node, graph)
    p = parameters(data)
    return (*unary.size(node, graph), ("multiplier", p.multiplier), ("shift", p.shift))


KERNELS = (
    unary.kernel("tanh", DType.INT16, _params),
    unary.kernel("tanh", DType.FLOAT32, ulps=tanh.ULPS),
)
