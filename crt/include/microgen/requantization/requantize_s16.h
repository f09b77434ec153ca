/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling of the accumulators of int16 activations with int8 weights. The Python twin is
 * microgen/graph/arithmetic/int16.py, which computes the same values, bit for bit.
 *
 * Multipliers and shifts are those of microgen/requantization/requantize.h. */
#ifndef MICROGEN_REQUANTIZE_S16_H
#define MICROGEN_REQUANTIZE_S16_H

#include <stddef.h>

#include "microgen/arithmetic/clamp.h"
#include "microgen/requantization/requantize.h"
#include "microgen/requantization/requantize_float.h"

/* How an accumulator is scaled. */
enum {
    MG_ROUND_DOUBLE = 0,  /* modulo 2^32, by mg_requantize */
    MG_ROUND_REDUCED = 1, /* by mg_requantize_reduced */
    MG_ROUND_IN_FLOAT = 2 /* by mg_requantize_float */
};

/* x times the scale modulo 2^32, with the multiplier reduced to 16 bits; rounded once, to nearest,
 * ties upwards. |x| must be below 2^47, and shift at most 14. */
MG_INLINE int32_t mg_requantize_reduced(int64_t x, int32_t multiplier, int32_t shift)
{
    const int32_t reduced =
        (multiplier < 0x7FFF0000) ? ((multiplier + ((int32_t)1 << 15)) >> 16) : 0x7FFF;
    const int32_t right = 15 - shift;
    const int64_t half = (int64_t)1 << (right - 1);
    return (int32_t)mg_shift_right_64(x * reduced + half, right);
}

/* x times the scale, rounded as `rounding` says. */
MG_INLINE int32_t mg_requantize_wide(int64_t x, int32_t multiplier, int32_t shift, int32_t rounding)
{
    if (rounding == MG_ROUND_IN_FLOAT) {
        return mg_requantize_float(x, multiplier, shift);
    }
    return (rounding == MG_ROUND_REDUCED) ? mg_requantize_reduced(x, multiplier, shift)
                                          : mg_requantize((int32_t)x, multiplier, shift);
}

/* An unsigned integer of 128 bits. */
typedef struct {
    uint64_t high;
    uint64_t low;
} mg_u128;

MG_INLINE mg_u128 mg_multiply_wide_u64(uint64_t a, uint64_t b)
{
    const uint64_t mask = 0xFFFFFFFFU;
    const uint64_t low = (a & mask) * (b & mask);
    const uint64_t middle = (a & mask) * (b >> 32) + (low >> 32);
    const uint64_t carried = (a >> 32) * (b & mask) + (middle & mask);
    const mg_u128 product = {(a >> 32) * (b >> 32) + (middle >> 32) + (carried >> 32),
                             (carried << 32) | (low & mask)};
    return product;
}

/* x + 2^n modulo 2^128, n in [0, 127]. */
MG_INLINE mg_u128 mg_add_power_u128(mg_u128 x, int32_t n)
{
    mg_u128 sum = {x.high, x.low};

    if (n >= 64) {
        sum.high += (uint64_t)1 << (n - 64);
    } else {
        sum.low += (uint64_t)1 << n;
        sum.high += (sum.low < x.low) ? 1U : 0U;
    }
    return sum;
}

/* x times the real scale significand * 2^-shift. The product is rounded to double (53 bits), and
 * then to an integer, to nearest, ties away from zero, like C's round.
 *
 * |x| must be below 2^47, the significand 0 or in [2^52, 2^53), and shift in [22, 127]. The result
 * must fit int32. The function computes in integers. A product that is rounded to double becomes a
 * tie only from below, so adding half a unit of each rounding has the effect of both. */
MG_INLINE int32_t mg_requantize_real(int64_t x, int64_t significand, int32_t shift)
{
    const uint64_t magnitude = (x < 0) ? (0U - (uint64_t)x) : (uint64_t)x;
    const mg_u128 product = mg_multiply_wide_u64(magnitude, (uint64_t)significand);
    const int32_t bits = (product.high != 0U) ? (64 + mg_bit_length_u64(product.high))
                                              : mg_bit_length_u64(product.low);
    mg_u128 sum = mg_add_power_u128(product, shift - 1);

    if (bits > 53) {
        sum = mg_add_power_u128(sum, bits - 54);
    }
    const uint64_t whole = (shift >= 64) ? (sum.high >> (shift - 64))
                                         : ((sum.high << (64 - shift)) | (sum.low >> shift));
    return (x < 0) ? -(int32_t)whole : (int32_t)whole;
}

/* How sums of products become outputs, per channel. */
typedef struct {
    const int64_t *bias; /* or NULL */
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t rounding;
    int32_t activation_min;
    int32_t activation_max;
} mg_scaling_s16;

/* The output of channel c. */
MG_INLINE int16_t mg_scaled_s16(const mg_scaling_s16 *s, int32_t c, int64_t sum)
{
    const int64_t total = sum + ((s->bias != NULL) ? s->bias[c] : 0);
    return mg_clamp_s16(mg_requantize_wide(total, s->multiplier[c], s->shift[c], s->rounding),
                        s->activation_min, s->activation_max);
}

#endif
