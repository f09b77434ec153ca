"""Functions of 16-bit fixed-point numbers, as gemmlowp computes them: the twin of
``crt/include/microgen/arithmetic/fixed_point_16.h``. Arrays are int64 that hold int16 values;
"Qm.n" has m + n = 15."""

from __future__ import annotations

import numpy as np

from microgen.graph.arithmetic.int8 import rounding_divide_by_pot
from microgen.graph.ir.graph import Array

_MOST = 2**15 - 1
_QUARTER = -2  # its power of two
# gemmlowp's exp_on_negative_values: power of two -> exp(-2**power) in Q0.15.
EXP_FACTORS = {-2: 25520, -1: 19875, 0: 12055, 1: 4435, 2: 600, 3: 11, 4: 0}


def logistic(x: Array) -> Array:
    """1 / (1 + exp(-x)) of Q3.12 values, as Q0.15 (gemmlowp logistic)."""
    positive = _one_over_one_plus(exp_of_negative(-np.abs(x), 3))
    return np.where(x > 0, positive, np.where(x == 0, 1 << 14, _MOST - positive))


def tanh(x: Array, integer_bits: int) -> Array:
    """The hyperbolic tangent of values with 0 to 6 integer bits, as Q0.15 (gemmlowp tanh)."""
    positive = _one_minus_over_one_plus(exp_of_negative(-np.abs(x), integer_bits + 1))
    return np.sign(x) * positive


def exp_of_negative(x: Array, integer_bits: int) -> Array:
    """Exponential of non-positive values with that many integer bits, as Q0.15."""
    # A sign bit and 15 others.
    fraction_bits = 15 - integer_bits
    quarter = 1 << (fraction_bits + _QUARTER)
    remainder = (x & (quarter - 1)) - quarter
    result = _exp_of_quarter(remainder << integer_bits)
    for power, factor in EXP_FACTORS.items():
        if power < integer_bits:
            bit = 1 << (fraction_bits + power)
            result = np.where((remainder - x) & bit, _multiply(result, factor), result)
    if integer_bits > 5:
        result = np.where(x < -(32 << fraction_bits), 0, result)
    # Q0.15 has no 1.
    return np.where(x == 0, _MOST, result)


def _exp_of_quarter(x: Array) -> Array:
    """Exponential on [-1/4, 0) in Q0.15: Taylor around -1/8, to the fourth power."""
    # exp(-1/8) and 1/3 in Q0.15.
    exp_of_minus_eighth, third = 28918, 10923
    x = x + (1 << 12)
    square = _multiply(x, x)
    cube_and_fourth = rounding_divide_by_pot(_multiply(square, square), 2) + _multiply(square, x)
    tail = rounding_divide_by_pot(_multiply(cube_and_fourth, third) + square, 1)
    return saturate(exp_of_minus_eighth + _multiply(x + tail, exp_of_minus_eighth))


def _one_over_one_plus(x: Array) -> Array:
    """1 / (1 + x) for x in [0, 1), Q0.15."""
    return saturate(_twice_the_inverse(x) << 1)


def _one_minus_over_one_plus(x: Array) -> Array:
    """(1 - x) / (1 + x) for x in [0, 1), Q0.15."""
    return saturate((_twice_the_inverse(x) - (1 << 13)) << 2)


def _twice_the_inverse(x: Array) -> Array:
    """2 / (1 + x) for x in [0, 1) as Q0.15, in Q2.13: three Newton steps on half the
    denominator."""
    half = (x + _MOST + 1) >> 1
    estimate = 23130 + _multiply(half, -15420)  # 48/17 - 32/17 * half
    for _ in range(3):
        error = (1 << 13) - _multiply(half, estimate)
        estimate = estimate + saturate(_multiply(estimate, error) << 2)
    return estimate


def _multiply(a: Array, b: Array | int) -> Array:
    """The product of Q0.15 numbers, rounded to nearest, ties upwards; not both may be -1."""
    product: Array = a * b
    return (product + (1 << 14)) >> 15


def saturate(x: Array) -> Array:
    """The nearest int16 values."""
    return np.clip(x, -(2**15), _MOST)
