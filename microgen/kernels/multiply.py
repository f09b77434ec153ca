"""Kernels for multiply."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, broadcast
from microgen.ops.multiply import MultiplyAttrs, parameters

OP_NAME = "multiply"


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, MultiplyAttrs)
    (lhs, rhs), output = base.types(node, graph)
    multiplier, shift = parameters(lhs, rhs, output)
    return (
        *broadcast.shapes(node, graph),
        *broadcast.offsets(node, graph),
        ("multiplier", multiplier),
        ("shift", shift),
        *base.activation_fields(node.attrs.activation, output),
    )


KERNELS = (
    base.Kernel(
        symbol="mg_multiply_s8",
        needs=base.REFERENCE,
        refusal=base.at_most_4_dimensions(DType.INT8),
        params=_params,
        inputs=(0, 1),
        in_place=broadcast.in_place,
    ),
)
