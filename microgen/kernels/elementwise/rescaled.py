"""Kernels for Relay's qnn.add, qnn.subtract and qnn.mul."""

from __future__ import annotations

from microgen.graph.ir.graph import DType, Graph, Node
from microgen.graph.ops.elementwise.rescaled import RescaledAttrs, of_product, of_sum
from microgen.kernels import base
from microgen.kernels.elementwise import affine, broadcast, product


def sum_params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_rescaled_sum_params``."""
    attrs = node.attrs
    assert isinstance(attrs, RescaledAttrs)
    lhs, rhs = of_sum(attrs)
    return (
        *_shared(attrs, node, graph),
        ("lhs_multiplier", lhs[0]),
        ("lhs_shift", lhs[1]),
        ("rhs_multiplier", rhs[0]),
        ("rhs_shift", rhs[1]),
        ("ties", base.TIES[attrs.rounding]),
    )


def product_params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_rescaled_product_params``."""
    attrs = node.attrs
    assert isinstance(attrs, RescaledAttrs)
    multiplier, shift = of_product(attrs)
    return (
        *_shared(attrs, node, graph),
        ("multiplier", multiplier),
        ("shift", shift),
        ("ties", base.TIES[attrs.rounding]),
    )


def _shared(attrs: RescaledAttrs, node: Node, graph: Graph) -> base.Fields:
    return (
        *broadcast.shapes(node, graph),
        ("lhs_offset", -attrs.lhs_zero_point),
        ("rhs_offset", -attrs.rhs_zero_point),
        ("output_offset", attrs.output_zero_point),
    )


def _kernel(symbol: str, params: base.Params) -> base.Implementation:
    return broadcast.kernel(symbol, DType.INT8, params, family="rescaled_arithmetic_s8")


BY_OP = {
    "qnn.add": (*affine.KERNELS, _kernel("mg_rescaled_add_s8", sum_params)),
    "qnn.subtract": (*affine.KERNELS, _kernel("mg_rescaled_subtract_s8", sum_params)),
    "qnn.mul": (product.SCALED_PRODUCT, _kernel("mg_rescaled_multiply_s8", product_params)),
}
