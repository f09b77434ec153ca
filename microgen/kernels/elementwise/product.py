"""Kernels for products, powers and nn.prelu."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from microgen.graph.arithmetic.affine import Affine, affine_product
from microgen.graph.ir.graph import Array, DType, Graph, Node
from microgen.graph.ops.elementwise import product
from microgen.graph.ops.elementwise.product import (
    MultiplyAttrs,
    multiply_parameters,
    prelu_parameters,
)
from microgen.kernels import base
from microgen.kernels.elementwise import broadcast, in_float32, pairs
from microgen.kernels.identity import KEPT
from microgen.kernels.requantization import proven, transforms

# Kernels of products of int8 that one long multiplication scales.

_SCALED_PRODUCT_KIND = "affine_product"


@lru_cache(KEPT)
def _scaled_product_proven(of: pairs.OperandPair) -> Affine | None:
    lhs, rhs, output = pairs.scales(of)
    if not output:
        return None
    zeros = (of.lhs.zero_point[0], of.rhs.zero_point[0])
    return affine_product(of.results(), zeros, lhs * rhs / output, *of.limits)


def _scaled_product_fields(of: pairs.OperandPair, found: Affine) -> base.Fields:
    """The last fields of ``mg_scaled_product_s8_params``."""
    return (
        ("lhs_offset", -of.lhs.zero_point[0]),
        ("rhs_offset", -of.rhs.zero_point[0]),
        *proven.limits(found),
    )


def _scaled_product_numbers(found: Affine) -> proven.Arguments:
    high, low = divmod(found.constant, 2**32)
    return (
        ("factor", found.factors[0]),
        ("constant_high", high),
        ("constant_low", low),
        ("low", found.low),
        ("high", found.high),
    )


def _coefficients(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    proven.check_scales(sources, 3)
    numbers = [int(arguments[name]) for name in ("factor", "constant_low", "constant_high")]
    # The lower word has 32 bits without a sign.
    return np.array(numbers, np.int64).astype(np.uint32).view(np.int32)


_SCALED_PRODUCT_FORM = pairs.PairForm(
    kind=_SCALED_PRODUCT_KIND,
    search=_scaled_product_proven,
    missing="no multiplication of the products was found that is exact for all pairs",
    fields=_scaled_product_fields,
    numbers=_scaled_product_numbers,
)

SCALED_PRODUCT = _SCALED_PRODUCT_FORM.kernel("mg_scaled_product_s8", base.REFERENCE)

# affine_product: the scales of both operands and the output, float32 [3], and the arguments from
# ``pairs.arguments`` and ``_numbers``. The factor, and the lower and the higher word of the
# constant: int32 [3].
TRANSFORMS: Mapping[str, transforms.Function] = {_SCALED_PRODUCT_KIND: _coefficients}


_MOST_RIGHT = 22  # bits that mg_multiply_s8_rows shifts


def _multiply_params(node: Node, graph: Graph) -> base.Fields:
    assert isinstance(node.attrs, MultiplyAttrs)
    (lhs, rhs), output = base.types(node, graph)
    return (
        *broadcast.shapes(node, graph),
        *broadcast.offsets(node, graph),
        *base.scale_fields(multiply_parameters(node.attrs, lhs, rhs, output)),
        *base.activation_fields(node.attrs.activation, output),
    )


def _row_params(node: Node, graph: Graph) -> base.Fields:
    """Fields of ``mg_multiply_s8_rows_params``, and of MVE's."""
    shapes = len(broadcast.shapes(node, graph))
    return (*broadcast.in_rows(node, graph), *_multiply_params(node, graph)[shapes:])


def _vector_refusal(node: Node, graph: Graph) -> str | None:
    return base.only(DType.INT8)(node, graph) or broadcast.too_many_for_rows(node, graph)


def _refusal_of_rows(node: Node, graph: Graph) -> str | None:
    refusal = _vector_refusal(node, graph)
    if refusal or getattr(node.attrs, "in_float32", False):
        return refusal
    shift = dict(_multiply_params(node, graph))["shift"]
    if shift not in range(-_MOST_RIGHT, 0):
        return f"products are shifted by {shift} bits, the kernel shifts by -1 to -{_MOST_RIGHT}"
    return None


_SPECIFIED = (
    broadcast.row_kernel("mg_multiply_s8_rows", base.REFERENCE, _refusal_of_rows, _row_params),
    replace(
        broadcast.row_kernel("mg_multiply_s8_mve", base.MVE, _vector_refusal, _row_params),
        work=broadcast.vector_work,
    ),
    broadcast.kernel("mg_multiply_s8", DType.INT8, _multiply_params, is_scaled=True),
)


_floats = broadcast.kernel("mg_power_f32", DType.FLOAT32, broadcast.shapes)


def _prelu_int8(node: Node, graph: Graph) -> base.Fields:
    return (*broadcast.shapes(node, graph), *broadcast.offsets(node, graph), *_scaling(node, graph))


def _prelu_int16(node: Node, graph: Graph) -> base.Fields:
    alpha = graph.types[node.inputs[1]]
    offset = ("rhs_offset", -alpha.zero_point)
    return (*broadcast.shapes(node, graph), offset, *_scaling(node, graph))


def _scaling(node: Node, graph: Graph) -> base.Fields:
    (data, alpha), output = base.types(node, graph)
    return base.fields_of(prelu_parameters(data, alpha, output))


BY_OP = {
    "multiply": (
        SCALED_PRODUCT,
        *map(in_float32.without, _SPECIFIED),
        *in_float32.elementwise("multiply"),
        in_float32.without(
            broadcast.kernel("mg_multiply_s16", DType.INT16, _multiply_params, is_scaled=True)
        ),
        broadcast.kernel("mg_multiply_s32", DType.INT32, broadcast.plain_params),
        broadcast.kernel("mg_multiply_s64", DType.INT64, broadcast.shapes),
        broadcast.of_float_rows("multiply"),
        broadcast.kernel("mg_multiply_f32", DType.FLOAT32, broadcast.plain_params),
        *broadcast.of_integers("multiply", "integer_arithmetic", but=(DType.INT32, DType.INT64)),
    ),
    "power": (
        broadcast.kernel("mg_power_s32", DType.INT32, broadcast.shapes),
        broadcast.kernel("mg_power_s64", DType.INT64, broadcast.shapes),
        replace(_floats, ulps=product.POWER_ULPS),
    ),
    "nn.prelu": (
        broadcast.kernel("mg_prelu_s8", DType.INT8, _prelu_int8),
        broadcast.kernel("mg_prelu_s16", DType.INT16, _prelu_int16),
        broadcast.kernel("mg_prelu_f32", DType.FLOAT32, broadcast.shapes),
    ),
}
