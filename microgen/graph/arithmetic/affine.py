"""Cheaper forms of functions of int8 values. Comparing form and function for all arguments proves
that they are equal.

A quantized operator rounds several times, but most of its results are far from a tie. So one
multiplication for each operand, one sum and one shift often give the same result for every
argument. The compiler searches the numbers of the form here. ``verify`` does not search, but
compares the results for all arguments again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microgen.graph.ir.graph import Array, Arrays

VALUES = np.arange(-128, 128, dtype=np.int64)  # of int8
_LIMIT = 2**31  # sums are int32
_MOST_SHIFT = 30
_SHIFTS = 3  # tried from the largest one: others are seldom exact if these are not
# Slopes are tried a little larger, too: that sends ties away from zero, where TFLite rounds them.
_GROWTHS = (0.0, *(2.0**-bits for bits in (20, 18, 17, 16, 15, 14)))
_WORD = 32  # bits
_LARGEST_SLOPE = 0.49  # whose factor fits int32, grown, too
_FAR = 2**56  # beyond all constants


@dataclass(frozen=True, slots=True)
class Affine:
    """``clip((x0 * factors[0] + x1 * factors[1] + ... + constant) >> shift, low, high)``."""

    factors: tuple[int, ...]
    constant: int
    shift: int
    low: int
    high: int


def affine_sum(
    results: Array, slopes: tuple[float, float], low: int = -128, high: int = 127
) -> Affine | None:
    """The affine form of a function of two int8 values. None if the search finds no form that is
    exact for all pairs.

    ``results`` int8 [256, 256] are the function's values; the first axis is lhs. ``slopes`` are its
    approximate slopes along both axes, and ``low`` and ``high`` the range to which it clamps. No
    partial sum of the resulting form exceeds int32.
    """
    return _searched(results, (VALUES[:, None], VALUES[None, :]), slopes, (low, high))


def affine_value(
    results: Array, first: int, slope: float, low: int = -128, high: int = 127
) -> Affine | None:
    """``affine_sum`` for a function of one number: ``results`` int8 [n] are its values for the n
    numbers from ``first`` on."""
    numbers = first + np.arange(len(results), dtype=np.int64)
    return _searched(results, (numbers,), (slope,), (low, high))


def affine_product(
    results: Array, zeros: tuple[int, int], slope: float, low: int = -128, high: int = 127
) -> Affine | None:
    """``affine_sum`` for a function of two int8 values that depends only on the product of their
    differences from the zero points ``zeros``. The shift is 32: the sum has 64 bits, the factor
    32."""
    products = (VALUES - zeros[0])[:, None] * (VALUES - zeros[1])[None, :]
    wanted = results.astype(np.int64)
    # The factor is slope * 2**32, and the kernel has it as int32.
    if not 0 <= slope < _LARGEST_SLOPE or low == high:
        return None
    for growth in _GROWTHS:
        # In the unit of the sum, which has 32 fraction bits.
        factor = round(slope * (1 + growth) * 2**_WORD)
        constant = _constant(wanted, products * factor, _WORD, (low, high))
        if constant is not None:
            return Affine((factor,), constant, _WORD, low, high)
    return None


def _searched(
    results: Array, values: Arrays, slopes: tuple[float, ...], limits: tuple[int, int]
) -> Affine | None:
    wanted = results.astype(np.int64)
    if not np.isfinite(slopes).all() or limits[0] == limits[1]:
        return None
    for shift in _shifts(wanted, values, slopes):
        for growth in _GROWTHS:
            factors = tuple(round(slope * (1 + growth) * 2**shift) for slope in slopes)
            constant = _constant(wanted, _sums(values, factors), shift, limits)
            if constant is not None and _largest(values, factors) + abs(constant) < _LIMIT:
                return Affine(factors, constant, shift, *limits)
    return None


def _sums(values: Arrays, factors: tuple[int, ...]) -> Array:
    first, *others = (x * factor for x, factor in zip(values, factors, strict=True))
    return sum(others, first)


def _largest(values: Arrays, factors: tuple[float, ...]) -> float:
    """A bound of the magnitudes of all sums of products, and of their partial sums."""
    pairs = zip(values, factors, strict=True)
    return sum(float(np.abs(x).max()) * abs(factor) for x, factor in pairs)


def _shifts(wanted: Array, values: Arrays, slopes: tuple[float, ...]) -> Iterator[int]:
    """The largest shifts with which sums fit int32."""
    # A clamped result tells nothing about the constant, so its size is estimated at the middle.
    place = np.argmin(np.abs(wanted))  # where the result is hardly clamped
    at = (np.broadcast_to(x, wanted.shape).flat[place] for x in values)
    level = sum(slope * float(x) for slope, x in zip(slopes, at, strict=True))
    largest = _largest(values, slopes) + abs(float(wanted.flat[place]) - level) + 2
    # 2**10 leaves room for the growth of slopes and for the rounding of factors.
    fitting = (s for s in range(_MOST_SHIFT, -1, -1) if largest * 2**s + 2**10 < _LIMIT)
    return (shift for shift, _ in zip(fitting, range(_SHIFTS), strict=False))


def _constant(wanted: Array, sums: Array, shift: int, limits: tuple[int, int]) -> int | None:
    """The middle of the range of constants with which all results are exact; None if there is no
    such constant."""
    low, high = limits
    below = (wanted << shift) - sums  # the constant that gives this result exactly
    least = int(below.max(where=wanted > low, initial=-_FAR))
    most = int((below + (1 << shift) - 1).min(where=wanted < high, initial=_FAR))
    if least > most:
        return None
    # If all results on one side are clamped, that limit is infinite. Constants more than one output
    # away are not better, and might leave int32.
    least, most = max(least, most - (1 << shift)), min(most, least + (1 << shift))
    return (least + most) // 2
