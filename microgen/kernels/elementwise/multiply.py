"""Kernels for multiply."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.elementwise.product import MultiplyAttrs, multiply_parameters
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast, in_float32, scaled_product

OP_NAME = "multiply"

_MOST_RIGHT = 22  # bits that mg_multiply_s8_rows shifts


def _params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, MultiplyAttrs)
    (lhs, rhs), output = base.types(node, graph)
    multiplier, shift = multiply_parameters(node.attrs, lhs, rhs, output)
    return (
        *broadcast.shapes(node, graph),
        *broadcast.offsets(node, graph),
        ("multiplier", multiplier),
        ("shift", shift),
        *base.activation_fields(node.attrs.activation, output),
    )


def _row_params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_multiply_s8_rows_params``, and of MVE's."""
    shapes = len(broadcast.shapes(node, graph))
    return (*broadcast.in_rows(node, graph), *_params(node, graph)[shapes:])


def _vector_refusal(node: Node, graph: Graph) -> str | None:
    return base.only(DType.INT8)(node, graph) or broadcast.too_many_for_rows(node, graph)


def _refusal_of_rows(node: Node, graph: Graph) -> str | None:
    refusal = _vector_refusal(node, graph)
    if refusal or getattr(node.attrs, "in_float32", False):
        return refusal
    shift = dict(_params(node, graph))["shift"]
    if shift not in range(-_MOST_RIGHT, 0):
        return f"products are shifted by {shift} bits, the kernel shifts by -1 to -{_MOST_RIGHT}"
    return None


_SPECIFIED = (
    broadcast.row_kernel("mg_multiply_s8_rows", base.REFERENCE, _refusal_of_rows, _row_params),
    broadcast.row_kernel("mg_multiply_s8_mve", base.MVE, _vector_refusal, _row_params),
    broadcast.kernel("mg_multiply_s8", DType.INT8, _params, is_scaled=True),
)
IMPLEMENTATIONS = (
    scaled_product.KERNEL,
    *map(in_float32.without, _SPECIFIED),
    *in_float32.elementwise(OP_NAME),
    in_float32.without(
        broadcast.kernel(
            "mg_multiply_s16", DType.INT16, _params, family="arithmetic_s16", is_scaled=True
        )
    ),
    broadcast.kernel(
        "mg_multiply_s32", DType.INT32, broadcast.plain_params, family="arithmetic_s32"
    ),
    broadcast.kernel("mg_multiply_s64", DType.INT64, broadcast.shapes, family="arithmetic_s64"),
    broadcast.kernel(
        "mg_multiply_f32", DType.FLOAT32, broadcast.plain_params, family="arithmetic_f32"
    ),
    *broadcast.of_integers(OP_NAME, "integer_arithmetic", but=(DType.INT32, DType.INT64)),
)
