"""Functions of fixed-point numbers, as gemmlowp computes them: the twin of
``crt/include/microgen/arithmetic/fixed_point.h``. Arrays are int64 that hold int32 values."""

from __future__ import annotations

import numpy as np

from microgen.graph.arithmetic.int8 import rounding_divide_by_pot, rounding_doubling_high_mul
from microgen.graph.ir.graph import Array

# gemmlowp's exp_on_negative_values: bit of a Q5.26 argument -> exp(-2**(bit - 26)) in Q0.31.
_EXP_FACTORS = (
    (24, 1672461947),
    (25, 1302514674),
    (26, 790015084),
    (27, 290630308),
    (28, 39332535),
    (29, 720401),
    (30, 242),
)


def exp_of_negative(x: Array) -> Array:
    """Exponential of non-positive Q5.26 values as Q0.31 (gemmlowp exp_on_negative_values)."""
    # 1/4 in Q5.26.
    quarter = 1 << 24
    fraction = (x & (quarter - 1)) - quarter
    result = _exp_of_fraction(fraction << 5)
    # A multiple of 1/4, whose bits select the factors of the table.
    remainder = fraction - x
    for bit, factor in _EXP_FACTORS:
        scaled = rounding_doubling_high_mul(result, factor)
        result = np.where(remainder & (1 << bit), scaled, result)
    # Q0.31 has no 1.
    return np.where(x == 0, 2**31 - 1, result)


def _exp_of_fraction(x: Array) -> Array:
    """Exponential on [-1/4, 0) in Q0.31: Taylor around -1/8, to the fourth power."""
    mul = rounding_doubling_high_mul
    # exp(-1/8) and 1/3 in Q0.31.
    exp_of_minus_eighth, third = 1895147668, 715827883
    x = x + (1 << 28)
    square = mul(x, x)
    cube_and_fourth = rounding_divide_by_pot(mul(square, square), 2) + mul(square, x)
    tail = rounding_divide_by_pot(mul(cube_and_fourth, third) + square, 1)
    return exp_of_minus_eighth + mul(x + tail, exp_of_minus_eighth)


def one_over_one_plus(x: Array) -> Array:
    """1 / (1 + x) for x in [0, 1), Q0.31: three Newton steps on half the denominator."""
    mul = rounding_doubling_high_mul
    half = (x + (2**31 - 1) + 1) >> 1
    estimate = 1515870810 + mul(half, -1010580540)  # 48/17 - 32/17 * half, Q2.29
    for _ in range(3):
        error = (1 << 29) - mul(half, estimate)
        estimate = estimate + saturate(mul(estimate, error) << 2)
    return saturate(estimate << 1)


def saturate(x: Array) -> Array:
    """The nearest int32 values."""
    return np.clip(x, -(2**31), 2**31 - 1)


def inverse_square_root(x: int) -> tuple[int, int]:
    """1 / sqrt(x) as (multiplier, shift): multiplier * 2**(shift - 31), for int32 x >= 0.

    0 is treated as 1. Source: TFLite internal/common.h, GetInvSqrtQuantizedMultiplierExp.
    """
    if x <= 1:
        return 2**31 - 1, 0
    right = 11
    while x >= 1 << 29:
        # A quarter has half the root: the shift to the right grows by one bit.
        x //= 4
        right += 1
    pairs = (31 - x.bit_length()) // 2 - 1
    root = _newton((x << 2 * pairs) >> 1)
    right -= pairs
    return root << max(-right, 0), -max(right, 0)


def _newton(x: int) -> int:
    """1 / sqrt(2 x) in Q3.28, for x as Q3.28 in [1/4, 1): five Newton steps from 1."""
    half, three_halves = int(rounding_divide_by_pot(np.array(x), 1)), 3 << 27
    estimate = 1 << 28
    for _ in range(5):
        cube = _saturated(_mul(_mul(estimate, estimate), estimate) << 6)
        estimate = _saturated((_mul(three_halves, estimate) - _mul(half, cube)) << 3)
    return _mul(estimate, 1518500250)  # sqrt(2) / 2 in Q0.31


def _mul(a: int, b: int) -> int:
    return int(rounding_doubling_high_mul(np.array(a), b))


def _saturated(x: int) -> int:
    return max(-(2**31), min(2**31 - 1, x))
