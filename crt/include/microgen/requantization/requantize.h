/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling of int32 accumulators to int8, in integers only. The Python twin is
 * microgen/graph/arithmetic/int8.py, which computes the same values, bit for bit.
 *
 * A real scale is `multiplier * 2^(shift - 31)`: multiplier is Q31, in [2^30, 2^31), or 0. shift is
 * in [-31, 30]; positive shifts go to the left. */
#ifndef MICROGEN_REQUANTIZE_H
#define MICROGEN_REQUANTIZE_H

#include "microgen/inline.h"

/* floor(x / 2^bits), bits in [0, 31]. The expression does not shift a negative value, and compilers
 * turn it into one arithmetic shift. */
MG_INLINE int32_t mg_shift_right(int32_t x, int32_t bits)
{
    return (x < 0) ? ~(~x >> bits) : (x >> bits);
}

/* floor(x / 2^bits), bits in [0, 63]. */
MG_INLINE int64_t mg_shift_right_64(int64_t x, int32_t bits)
{
    return (x < 0) ? ~(~x >> bits) : (x >> bits);
}

/* x * 2^bits modulo 2^32, bits in [0, 31]. */
MG_INLINE int32_t mg_shift_left(int32_t x, int32_t bits)
{
    return (int32_t)((uint32_t)x << bits);
}

/* a * b / 2^31, rounded to nearest, ties upwards. a and b must not both be INT32_MIN. */
MG_INLINE int32_t mg_multiply_high(int32_t a, int32_t b)
{
    const int64_t half = (int64_t)1 << 30;
    return (int32_t)mg_shift_right_64((int64_t)a * b + half, 31);
}

/* x / 2^exponent, rounded to nearest, ties away from zero; exponent in [0, 31]. */
MG_INLINE int32_t mg_divide_by_power_of_two(int32_t x, int32_t exponent)
{
    const int32_t mask = (int32_t)(((uint32_t)1 << exponent) - 1U);
    const int32_t remainder = x & mask;
    const int32_t threshold = (mask >> 1) + ((x < 0) ? 1 : 0);
    return mg_shift_right(x, exponent) + ((remainder > threshold) ? 1 : 0);
}

/* x times the scale, rounded twice: after the multiplication and after the shift to the right.
 * A shift to the left comes first, modulo 2^32. */
MG_INLINE int32_t mg_requantize(int32_t x, int32_t multiplier, int32_t shift)
{
    const int32_t left = (shift > 0) ? shift : 0;
    const int32_t right = (shift > 0) ? 0 : -shift;
    return mg_divide_by_power_of_two(mg_multiply_high(mg_shift_left(x, left), multiplier), right);
}

/* x times the scale modulo 2^32, rounded once, to nearest, ties away from zero. */
MG_INLINE int32_t mg_requantize_single(int32_t x, int32_t multiplier, int32_t shift)
{
    const int32_t right = 31 - shift;
    const int64_t half = (int64_t)1 << (right - 1);
    return (int32_t)mg_shift_right_64((int64_t)x * multiplier + half - ((x < 0) ? 1 : 0), right);
}

/* x + offset modulo 2^32, clamped to [low, high]. */
MG_INLINE int32_t mg_offset_and_clamp_wide(int32_t x, int32_t offset, int32_t low, int32_t high)
{
    int32_t stored = (int32_t)((uint32_t)x + (uint32_t)offset);
    if (stored < low) {
        stored = low;
    }
    if (stored > high) {
        stored = high;
    }
    return stored;
}

/* The same with both limits within int8. */
MG_INLINE int8_t mg_offset_and_clamp(int32_t x, int32_t offset, int32_t low, int32_t high)
{
    return (int8_t)mg_offset_and_clamp_wide(x, offset, low, high);
}

/* The number of bits of x without leading zeros. */
MG_INLINE int32_t mg_bit_length_u64(uint64_t x)
{
    int32_t length = 0;

    for (int32_t step = 32; step > 0; step /= 2) {
        if ((x >> step) != 0U) {
            x >>= step;
            length += step;
        }
    }
    return length + ((x != 0U) ? 1 : 0);
}

#endif
