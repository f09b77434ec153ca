"""Kernels of sums and differences of int8 that are one affine function of each pair of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from microgen.graph.arithmetic.affine import Affine, affine_sum
from microgen.graph.ir.graph import Array
from microgen.kernels import base
from microgen.kernels.elementwise import pairs
from microgen.kernels.identity import KEPT
from microgen.kernels.requantization import proven, transforms

_KIND = "affine_sum"
_SIGNS = {"add": 1, "subtract": -1, "qnn.add": 1, "qnn.subtract": -1}  # of the second operand


@lru_cache(KEPT)
def proven_form(of: pairs.OperandPair) -> Affine | None:
    """The affine function that is exact for all pairs of values, if one is found."""
    lhs, rhs, output = pairs.scales(of)
    if not output:
        return None
    slopes = (lhs / output, _SIGNS[of.op] * rhs / output)
    return affine_sum(of.results(), slopes, *of.limits)


def _fields(_of: pairs.OperandPair, found: Affine) -> base.Fields:
    """The last fields of ``mg_affine_sum_s8_params``."""
    return proven.fields(found)


def _numbers(found: Affine) -> proven.Arguments:
    return (
        ("factor_lhs", found.factors[0]),
        ("factor_rhs", found.factors[1]),
        ("constant", found.constant),
        ("shift", found.shift),
        ("low", found.low),
        ("high", found.high),
    )


def _coefficients(sources: Sequence[Array], arguments: transforms.Arguments) -> Array:
    proven.check_scales(sources, 3)
    names = ("factor_lhs", "factor_rhs", "constant")
    return np.array([arguments[name] for name in names], np.int32)


_FORM = pairs.PairForm(
    kind=_KIND,
    search=proven_form,
    missing="no affine function of both values was found that is exact for all pairs",
    fields=_fields,
    numbers=_numbers,
)

KERNELS = (
    _FORM.kernel("mg_affine_sum_s8", base.REFERENCE),
    _FORM.kernel("mg_affine_sum_s8_mve", base.MVE),
)

# affine_sum: the scales of both operands and the output, float32 [3], and the arguments from
# ``pairs.arguments`` and ``_numbers``. The factors of both operands, and the constant: int32 [3].
TRANSFORMS: Mapping[str, transforms.Function] = {_KIND: _coefficients}
