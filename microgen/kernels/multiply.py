"""Kernels for multiply."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, broadcast
from microgen.ops.multiply import MultiplyAttrs, parameters

OP_NAME = "multiply"


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, MultiplyAttrs)
    (lhs, rhs), output = base.types(node, graph)
    multiplier, shift = parameters(node.attrs, lhs, rhs, output)
    return (
        *broadcast.shapes(node, graph),
        *broadcast.offsets(node, graph),
        ("multiplier", multiplier),
        ("shift", shift),
        *base.activation_fields(node.attrs.activation, output),
    )


IMPLEMENTATIONS = (
    broadcast.kernel("mg_multiply_s8", DType.INT8, _params),
    broadcast.kernel("mg_multiply_s16", DType.INT16, _params, family="arithmetic_s16"),
    broadcast.kernel(
        "mg_multiply_s32", DType.INT32, broadcast.plain_params, family="arithmetic_s32"
    ),
    broadcast.kernel("mg_multiply_s64", DType.INT64, broadcast.shapes, family="arithmetic_s64"),
    broadcast.kernel(
        "mg_multiply_f32", DType.FLOAT32, broadcast.plain_params, family="arithmetic_f32"
    ),
)
