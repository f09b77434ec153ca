"""Kernels for divide."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, broadcast
from microgen.ops.divide import DivideAttrs, divides_by_zero, parameters

OP_NAME = "divide"


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, DivideAttrs)
    (lhs, rhs), output = base.types(node, graph)
    multiplier, shift = parameters(lhs, rhs, output)
    return (
        *broadcast.shapes(node, graph),
        *broadcast.offsets(node, graph),
        ("multiplier", multiplier),
        ("shift", shift),
        *base.activation_fields(node.attrs.activation, output),
        ("divisors", rhs.size),
    )


def _refusal(node: Node, graph: Graph) -> str | None:
    divisor = node.inputs[1]
    value = graph.constants.get(divisor)
    if value is not None and divides_by_zero(value, graph.types[divisor]):
        return f"{divisor!r} is a constant with zeros, by which nothing can be divided"
    return base.at_most_4_dimensions(DType.INT8)(node, graph)


KERNELS = (
    base.Kernel(
        symbol="mg_divide_s8",
        needs=base.REFERENCE,
        refusal=_refusal,
        params=_params,
        inputs=(0, 1),
        in_place=broadcast.in_place,
        can_fail=True,
    ),
)
