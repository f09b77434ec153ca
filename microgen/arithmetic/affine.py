"""Cheaper forms of functions of int8 values, with proofs: they are compared for all arguments.

A quantized operator rounds several times, but most of its results are far from a tie. So one
multiplication for each operand, one sum and one shift often give the same for every argument. The
numbers are searched here once. Whoever uses them later compares all arguments again instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from microgen.ir.graph import Array

VALUES = np.arange(-128, 128, dtype=np.int64)  # of int8
_LIMIT = 2**31  # sums are int32
_MOST_SHIFT = 30
_SHIFTS = 3  # tried from the largest one: others are seldom exact if these are not
# Slopes are tried a little larger, too: that sends ties away from zero, where TFLite rounds them.
_GROWTHS = (0.0, 2.0**-20, 2.0**-18, 2.0**-16, 2.0**-14)


@dataclass(frozen=True, slots=True)
class AffineSum:
    """``clip((lhs * factor_lhs + rhs * factor_rhs + constant) >> shift, low, high)``."""

    factor_lhs: int
    factor_rhs: int
    constant: int
    shift: int
    low: int
    high: int

    @property
    def largest(self) -> int:
        """A bound of the magnitudes of its sum and of all partial sums."""
        return 128 * (abs(self.factor_lhs) + abs(self.factor_rhs)) + abs(self.constant)

    def of_all_pairs(self) -> Array:
        """Its results int64 [256, 256] for all values of lhs (first axis) and rhs.

        ValueError if a sum may exceed int32.
        """
        if self.largest >= _LIMIT or not 0 <= self.shift <= _MOST_SHIFT:
            raise ValueError(f"the sums of {self} may exceed int32")
        sums = _sums(self.factor_lhs, self.factor_rhs) + self.constant
        results: Array = np.clip(sums >> self.shift, self.low, self.high)
        return results


def _sums(lhs: int, rhs: int) -> Array:
    sums: Array = VALUES[:, None] * lhs + VALUES[None, :] * rhs
    return sums


def affine_sum(
    results: Array, slopes: tuple[float, float], low: int = -128, high: int = 127
) -> AffineSum | None:
    """The affine form of a function, None if none is found that is exact for all pairs.

    ``results`` int8 [256, 256] are the function's values, with those of lhs along the first axis.
    ``slopes`` are about its slopes along both, and ``low`` and ``high`` the range to which it
    clamps."""
    wanted = results.astype(np.int64)
    if not np.isfinite(slopes).all() or low == high:
        return None
    for shift in _shifts(wanted, slopes):
        for growth in _GROWTHS:
            lhs, rhs = (round(slope * (1 + growth) * 2**shift) for slope in slopes)
            found = _with_factors(wanted, (lhs, rhs), shift, (low, high))
            if found is not None and found.largest < _LIMIT:
                return found
    return None


def _shifts(wanted: Array, slopes: tuple[float, float]) -> Iterator[int]:
    """The largest shifts with which sums fit int32."""
    middle = np.argmin(np.abs(wanted))  # a pair whose result is hardly clamped
    at = [float(VALUES[i]) for i in np.unravel_index(middle, wanted.shape)]
    constant = wanted.flat[middle] - slopes[0] * at[0] - slopes[1] * at[1]
    largest = 128 * (abs(slopes[0]) + abs(slopes[1])) + abs(float(constant)) + 1
    fitting = (s for s in range(_MOST_SHIFT, -1, -1) if largest * 2**s + 2**s + 512 < _LIMIT)
    return (shift for shift, _ in zip(fitting, range(_SHIFTS), strict=False))


def _with_factors(
    wanted: Array, factors: tuple[int, int], shift: int, limits: tuple[int, int]
) -> AffineSum | None:
    """The form with these factors and the middle one of the constants that are exact."""
    low, high = limits
    below = (wanted << shift) - _sums(*factors)  # the constant that gives this result exactly
    least = int(below.max(where=wanted > low, initial=-(2**40)))
    most = int((below + (1 << shift) - 1).min(where=wanted < high, initial=2**40))
    if least > most:
        return None
    least, most = max(least, most - (1 << shift)), min(most, least + (1 << shift))
    return AffineSum(*factors, (least + most) // 2, shift, low, high)
