"""Scaling of the accumulators of int16 activations with int8 weights ("16x8"): the twin of
``crt/include/microgen/requantization/requantize_s16.h``.

Accumulators are int64 arrays that include the bias. Zero points are 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from microgen.graph.arithmetic.int8 import (
    clamp,
    multiply_by_quantized_multiplier,
    per_channel_multipliers,
    rounded_away,
)
from microgen.graph.arithmetic.terms import Activation, Rounding
from microgen.graph.ir.graph import Array, ArrayType

SUM_LIMIT = 2**47 - 1  # the most that REDUCED scales, so that products fit int64
SCALE_LIMIT = 2.0**13  # scales are smaller, shifts at most 14: REDUCED has a bit to round


def requantize16(
    accumulator: Array,
    scales: npt.NDArray[np.float64],
    rounding: Rounding,
    output: ArrayType,
    activation: Activation,
) -> Array:
    """int64 sums (channels last) scaled by one scale or one per channel, and clamped to the stored
    values of ``output``.

    DOUBLE takes the sums modulo 2**32, because LiteRT has int32 accumulators for layers with an
    int32 bias. ValueError for SINGLE, which no int16 operator has.
    """
    if rounding is Rounding.REAL:
        return clamp(multiply_real(accumulator, scales), output, activation)
    multiplier, shift = per_channel_multipliers(scales)
    if rounding is Rounding.REDUCED:
        scaled = multiply_reduced(accumulator, multiplier, shift)
    elif rounding is Rounding.FLOAT:
        scaled = multiply_by_quantized_multiplier(accumulator, multiplier, shift, rounding)
    elif rounding is Rounding.DOUBLE:
        # astype wraps, as LiteRT's int32 accumulator does.
        narrow = accumulator.astype(np.int32)
        scaled = multiply_by_quantized_multiplier(narrow, multiplier, shift, rounding)
    else:
        raise ValueError(f"int16 accumulators are not rounded {rounding.value!r}")
    return clamp(scaled, output, activation)


def multiply_reduced(x: Array, multiplier: Array | int, shift: Array | int) -> Array:
    """``x * multiplier * 2**(shift - 31)`` with the multiplier's upper 16 bits, rounded to
    nearest, ties upwards; int32 array of the broadcast shape, modulo 2**32.

    ``x`` is within ``SUM_LIMIT``, shifts are 14 or less; multiplier and shift are as
    ``quantize_multiplier`` gives them. Source: TFLite internal/common.cc,
    MultiplyByQuantizedMultiplier of int64.
    """
    multiplier = np.asarray(multiplier, np.int64)
    # TFLite's constant is 0x7FFF: rounding up 0x7FFF8000 and larger ones would leave int16.
    reduced = np.minimum((multiplier + (1 << 15)) >> 16, 0x7FFF)
    right = 15 - np.asarray(shift, np.int64)
    product = np.asarray(x, np.int64) * reduced
    scaled: Array = (product + (np.int64(1) << (right - 1))) >> right
    return scaled.astype(np.int32)


def real_parts(
    scales: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]]:
    """Doubles below 2**31 as ``significand * 2**-shift``: the significand is 0 or in
    [2**52, 2**53), the shift in [22, 127].

    Smaller scales are increased to the least scale of this form, which still rounds every sum
    within ``SUM_LIMIT`` to 0. ValueError for scales of 2**31 or more.
    """
    # The shift 53 - exponent is at least 22 then, as the kernel requires.
    if np.any(scales >= 2.0**31):
        raise ValueError("a scale is 2**31 or more")
    fractions, exponents = np.frexp(scales)
    significands = (fractions * 2.0**53).astype(np.int64)
    return significands, np.minimum(53 - exponents, 127).astype(np.int8)


def multiply_real(x: Array, scale: Array | float) -> Array:
    """C's ``round(x * scale)`` in double, ties away from zero; int32 array of the broadcast shape.

    ``x`` is within 2**53, results within int32. Source: measurement of ai-edge-litert 2.3.0's
    FULLY_CONNECTED (BUILTIN_REF).
    """
    return rounded_away(np.asarray(x).astype(np.float64) * scale).astype(np.int32)
