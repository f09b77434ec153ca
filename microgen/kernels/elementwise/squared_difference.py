"""Kernels for squared_difference."""

from __future__ import annotations

from microgen.graph.arithmetic.terms import Activation
from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.elementwise.addition import squared_difference_parameters
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast

OP_NAME = "squared_difference"


def _params(node: Node, graph: Graph) -> base.Fields:
    (lhs, rhs), output = base.types(node, graph)
    return broadcast.sum_params(
        squared_difference_parameters(lhs, rhs, output), Activation.NONE, node, graph
    )


IMPLEMENTATIONS = (
    broadcast.kernel("mg_squared_difference_s8", DType.INT8, _params),
    broadcast.kernel(
        "mg_squared_difference_s32", DType.INT32, broadcast.shapes, family="arithmetic_s32"
    ),
    broadcast.kernel(
        "mg_squared_difference_f32", DType.FLOAT32, broadcast.shapes, family="arithmetic_f32"
    ),
)
