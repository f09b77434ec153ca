/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of 16-bit Q-format numbers, in integers only: the logistic function and tanh.
 *
 * A "Qm.n" number is an int16 in an int32, whose value is raw / 2^n, with m + n = 15. The methods
 * and constants are those of gemmlowp's fixed-point library, because it defines TFLite's int8 LSTM.
 * The Python twin is microgen/graph/ops/fixed_point_16.py, which computes the same values,
 * bit for bit. */
#ifndef MICROGEN_FIXED_POINT_16_H
#define MICROGEN_FIXED_POINT_16_H

#include "microgen/requantization/requantize.h"

/* x saturated to int16. */
MG_INLINE int32_t mg_saturate_16(int32_t x)
{
    if (x > INT16_MAX) {
        return INT16_MAX;
    }
    return (x < INT16_MIN) ? INT16_MIN : x;
}

/* a * b / 2^15, rounded to nearest, ties upwards. a and b must not both be INT16_MIN. */
MG_INLINE int32_t mg_multiply_high_16(int32_t a, int32_t b)
{
    return mg_shift_right(a * b + ((int32_t)1 << 14), 15);
}

/* exp(x) as Q0.15, for x as Q0.15 in [-1/4, 0): Taylor's series to x^4 about -1/8. */
MG_INLINE int32_t mg_exp_of_quarter_16(int32_t x)
{
    const int32_t exp_minus_eighth = 28918;   /* exp(-1/8) */
    const int32_t third = 10923;              /* 1/3 */
    const int32_t d = x + ((int32_t)1 << 12); /* x + 1/8 */
    const int32_t d2 = mg_multiply_high_16(d, d);
    const int32_t d3 = mg_multiply_high_16(d2, d);
    const int32_t d4_over_4 = mg_divide_by_power_of_two(mg_multiply_high_16(d2, d2), 2);
    const int32_t d4_over_12_plus_d3_over_3 = mg_multiply_high_16(d4_over_4 + d3, third);
    const int32_t tail = mg_divide_by_power_of_two(d4_over_12_plus_d3_over_3 + d2, 1);
    return mg_saturate_16(exp_minus_eighth + mg_multiply_high_16(exp_minus_eighth, d + tail));
}

/* exp(x) as Q0.15, for x in [-2^integer_bits, 0] with 1 to 7 integer bits. x is a rest in [-1/4, 0)
 * minus a multiple of 1/4. The result is exp(rest) times one known factor for each bit set in the
 * multiple. */
MG_INLINE int32_t mg_exp_of_negative_16(int32_t x, int32_t integer_bits)
{
    /* exp(-2^k) as Q0.15, for k = -2 to 4 */
    static const int16_t factor[7] = {25520, 19875, 12055, 4435, 600, 11, 0};
    const int32_t factors = (integer_bits > 5) ? 7 : integer_bits + 2;
    const int32_t fraction_bits = 15 - integer_bits;
    const int32_t quarter = mg_shift_left(1, fraction_bits - 2);
    const int32_t rest = (x & (quarter - 1)) - quarter;
    const int32_t multiple = rest - x;
    int32_t result = mg_exp_of_quarter_16(mg_shift_left(rest, integer_bits));

    for (int32_t k = 0; k < factors; k++) {
        if ((multiple & mg_shift_left(quarter, k)) != 0) {
            result = mg_multiply_high_16(result, factor[k]);
        }
    }
    if (integer_bits > 5 && x < -mg_shift_left(32, fraction_bits)) {
        result = 0;
    }
    return (x == 0) ? INT16_MAX : result;
}

/* 2 / (1 + x) as Q2.13, for x as Q0.15 in [0, 1): three steps of Newton's method. */
MG_INLINE int32_t mg_twice_the_inverse_16(int32_t x)
{
    const int32_t one = (int32_t)1 << 13;
    const int32_t half_denominator = (x + INT16_MAX + 1) >> 1;
    /* 48/17 - 32/17 * half_denominator */
    int32_t estimate = 23130 + mg_multiply_high_16(half_denominator, -15420);

    for (int32_t step = 0; step < 3; step++) {
        const int32_t error = one - mg_multiply_high_16(half_denominator, estimate);
        /* gemmlowp saturates here. That is not needed, because |error| < 1/16. */
        estimate += mg_shift_left(mg_multiply_high_16(estimate, error), 2);
    }
    return estimate;
}

/* 1 / (1 + exp(-x)) as Q0.15, for x as Q3.12. */
MG_INLINE int32_t mg_logistic_16(int32_t x)
{
    const int32_t exponential = mg_exp_of_negative_16((x < 0) ? x : -x, 3);
    const int32_t positive = mg_saturate_16(2 * mg_twice_the_inverse_16(exponential));

    if (x == 0) {
        return (int32_t)1 << 14;
    }
    return (x > 0) ? positive : INT16_MAX - positive;
}

/* tanh(x) as Q0.15, for x with 0 to 6 integer bits. */
MG_INLINE int32_t mg_tanh_16(int32_t x, int32_t integer_bits)
{
    const int32_t exponential = mg_exp_of_negative_16((x < 0) ? x : -x, integer_bits + 1);
    const int32_t rest = mg_twice_the_inverse_16(exponential) - ((int32_t)1 << 13);
    const int32_t positive = mg_saturate_16(mg_shift_left(rest, 2));

    if (x == 0) {
        return 0;
    }
    return (x > 0) ? positive : -positive;
}

#endif
