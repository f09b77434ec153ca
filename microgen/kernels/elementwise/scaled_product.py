"""Kernels of products of int8 that one long multiplication scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from microgen.graph.arithmetic.affine import Affine, affine_product
from microgen.graph.ir.graph import Array
from microgen.kernels import base
from microgen.kernels.elementwise import pairs
from microgen.kernels.requantization import proven, transforms

_KIND = "affine_product"
_KEPT = 1024  # proofs


@lru_cache(_KEPT)
def _proven(of: pairs.Pair) -> Affine | None:
    lhs, rhs, output = pairs.scales(of)
    if not output:
        return None
    zeros = (of.lhs.zero_point[0], of.rhs.zero_point[0])
    return affine_product(of.results(), zeros, lhs * rhs / output, *of.limits)


def _fields(of: pairs.Pair, found: Affine) -> base.Fields:
    """The last fields of ``mg_scaled_product_s8_params``."""
    return (
        ("lhs_offset", -of.lhs.zero_point[0]),
        ("rhs_offset", -of.rhs.zero_point[0]),
        *proven.limits(found),
    )


def _numbers(found: Affine) -> proven.Arguments:
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
    return np.array(numbers, np.int64).astype(np.uint32).view(np.int32)


_FORM = pairs.Form(
    kind=_KIND,
    search=_proven,
    missing="no multiplication of the products was found that is exact for all pairs",
    fields=_fields,
    numbers=_numbers,
)

KERNEL = _FORM.kernel("mg_scaled_product_s8", base.REFERENCE)

# affine_product: the scales of both operands and the output, float32 [3], and what
# ``pairs.arguments`` and ``_numbers`` say. The factor, and the lower and the higher word of the
# constant: int32 [3].
TRANSFORMS: Mapping[str, transforms.Function] = {_KIND: _coefficients}
