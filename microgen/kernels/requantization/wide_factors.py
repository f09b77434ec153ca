"""Scales of int16 sums as factors of 64 bits, which crt/include/microgen/dense/dense_factored_s16.h
describes, and the proof that they round every sum of int32 as the scales do."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from microgen.graph.arithmetic import int8, int16
from microgen.graph.arithmetic.terms import Rounding
from microgen.graph.ir.graph import Array
from microgen.kernels.requantization import transforms
from microgen.kernels.requantization.transforms import Arguments

_LARGEST = 2**63 - 2**31 - 1  # factor, so that its upper half is an int32
_RESULTS = 2**15  # positive results, of which the last is saturated
_LAST = 2.0**31  # sums are smaller


def _factors(sources: Sequence[Array], arguments: Arguments) -> Array:
    rounding = Rounding(str(arguments["rounding"]))
    scales = transforms.effective_scales(
        sources, {name: value for name, value in arguments.items() if name != "rounding"}
    )
    if rounding is Rounding.REDUCED:
        return _halves(_of_multipliers(scales))
    if rounding is not Rounding.REAL:
        raise ValueError(f"factors do not round {rounding.value!r}")
    return _halves(np.array([proven(float(scale)) for scale in scales], np.uint64))


def _of_multipliers(scales: Array) -> Array:
    """The factors of scales that are rounded REDUCED, uint64. They are exact."""
    multiplier, shift = int8.per_channel_multipliers(scales)
    reduced = np.minimum((multiplier.astype(np.int64) + (1 << 15)) >> 16, 0x7FFF)
    # A scale of 0 has any shift, so it gets none.
    left = np.where(reduced == 0, 0, 49 + shift.astype(np.int64))  # 64 - (15 - shift)
    if np.any(left > 48):
        raise ValueError("a scale is 1/2 or more")
    factors: Array = reduced << left
    return factors.astype(np.uint64)


def _halves(factors: Array) -> Array:
    """int32 [factors, 2]: the signed lower half, and the upper half of the remainder."""
    if factors.max() > _LARGEST:
        raise ValueError("a scale is 1/2 or more")
    whole = factors.astype(np.int64)
    low = whole.astype(np.int32)
    return np.stack([low, ((whole - low) >> 32).astype(np.int32)], axis=1)


@functools.lru_cache(maxsize=4096)
def proven(scale: float) -> int:
    """The factor with which the product rounds every int32 sum as REAL does, after saturation. It
    is the next factor above the scale, which rounds ties away from zero, or the next one below.
    ValueError if neither rounds so.
    """
    below = int(scale * 2.0**64)
    if not 2.0**-30 <= scale < 0.5:
        raise ValueError(f"the scale {scale!r} is not from 2^-30 to 1/2")
    for factor in (below + 1, below):
        sums = _doubtful(scale, factor)
        exact = _saturated(int16.multiply_real(sums, scale))
        if np.array_equal(exact, _saturated(_scaled(sums, factor))):
            return factor
    raise ValueError(f"no factor was found for the scale {scale!r}")


def _doubtful(scale: float, factor: int) -> Array:
    """All sums of int32 that the factor and REAL may round differently, int64.

    Both results grow with the sum, so they differ only at sums between a step of one and the same
    step of the other. A sum times the scale, rounded to double, and the division below are off by
    less than 2^-22 sums each, the factor's steps by less than 2^32 / factor, at most 1/4.
    """
    steps = (np.arange(_RESULTS) + 0.5) / scale
    nearest = np.rint(steps)
    margin = 2.0**-20 + 2.0**32 / factor
    close = nearest[(np.abs(steps - nearest) < margin) & (nearest < _LAST)].astype(np.int64)
    return np.concatenate([close, -close])


def _scaled(sums: Array, factor: int) -> Array:
    """The kernels' results: sums times a factor, over 2**64, int64."""
    ((low, high),) = _halves(np.array([factor], np.uint64)).astype(np.int64)
    scaled: Array = (((sums * low) >> 32) + sums * high + 2**31) >> 32
    return scaled


def _saturated(results: Array) -> Array:
    saturated: Array = np.clip(results, -(2**15), 2**15 - 1)
    return saturated


# wide_factors: weight scales float32; the arguments of requantize_multiplier, and ``rounding``,
# "real" or "reduced". int32 [channels, 2]: factors for sums of int32, as ``_halves``.
TRANSFORMS = {"wide_factors": _factors}
