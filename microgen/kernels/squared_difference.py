"""Kernels for squared_difference."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, broadcast
from microgen.ops.base import Activation
from microgen.ops.squared_difference import parameters

OP_NAME = "squared_difference"


def _params(node: Node, graph: Graph) -> base.Fields:
    (lhs, rhs), output = base.types(node, graph)
    return broadcast.sum_params(parameters(lhs, rhs, output), Activation.NONE, node, graph)


KERNELS = (
    base.Kernel(
        symbol="mg_squared_difference_s8",
        needs=base.REFERENCE,
        refusal=base.at_most_4_dimensions(DType.INT8),
        params=_params,
        inputs=(0, 1),
        in_place=broadcast.in_place,
    ),
)
