"""Kernels for multiply."""

from __future__ import annotations

from microgen.ir.graph import DType, Graph, Node
from microgen.kernels import base, broadcast, scaled_product
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


def _row_params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_multiply_s8_mve_params``."""
    shapes = len(broadcast.shapes(node, graph))
    return (*broadcast.in_rows(node, graph), *_params(node, graph)[shapes:])


def _vector_refusal(node: Node, graph: Graph) -> str | None:
    return base.only(DType.INT8)(node, graph) or broadcast.too_many_for_rows(node, graph)


IMPLEMENTATIONS = (
    scaled_product.KERNEL,
    base.Implementation(
        symbol="mg_multiply_s8_mve",
        needs=base.MVE,
        refusal=_vector_refusal,
        params=_row_params,
        inputs=(0, 1),
        in_place=broadcast.in_place,
        work=broadcast.row_work,
    ),
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
