"""Kernels for add."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, broadcast
from microgen.ops.add import AddAttrs
from microgen.quantize import add_parameters

OP_NAME = "add"


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, AddAttrs)
    (lhs, rhs), output = base.types(node, graph)
    p = add_parameters(lhs, rhs, output)
    return broadcast.sum_params(p, node.attrs.activation, node, graph)


KERNELS = (
    base.Kernel(
        symbol="mg_add_s8",
        needs=base.REFERENCE,
        refusal=base.at_most_4_dimensions(DType.INT8),
        params=_params,
        inputs=(0, 1),
        in_place=broadcast.in_place,
    ),
    base.Kernel(
        symbol="mg_add_f32",
        needs=base.REFERENCE,
        refusal=base.at_most_4_dimensions(DType.FLOAT32),
        params=broadcast.float_params,
        inputs=(0, 1),
        in_place=broadcast.in_place,
    ),
)
