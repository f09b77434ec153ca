/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of Q-format numbers, in integers only: exp and 1 / (1 + x).
 *
 * A "Qm.n" number is an int32 whose value is raw / 2^n, with m + n = 31. The methods and constants
 * are those of gemmlowp's fixed-point library, because it defines TFLite's int8 softmax. The Python
 * twin is microgen/graph/ops/fixed_point.py, which computes the same values, bit for bit. */
#ifndef MICROGEN_FIXED_POINT_H
#define MICROGEN_FIXED_POINT_H

#include "microgen/requantization/requantize.h"

/* x * 2^bits, saturated to int32; bits in [1, 30]. */
MG_INLINE int32_t mg_saturating_shift_left(int32_t x, int32_t bits)
{
    const int32_t largest = INT32_MAX >> bits;
    int32_t shifted = 0;

    if (x > largest) {
        shifted = INT32_MAX;
    } else if (x < -largest) {
        shifted = INT32_MIN;
    } else {
        shifted = mg_shift_left(x, bits);
    }
    return shifted;
}

/* exp(x) as Q0.31, for x as Q0.31 in [-1/4, 0): Taylor's series to x^4 about -1/8. */
MG_INLINE int32_t mg_exp_of_quarter(int32_t x)
{
    const int32_t exp_minus_eighth = 1895147668; /* exp(-1/8) */
    const int32_t third = 715827883;             /* 1/3 */
    const int32_t d = x + ((int32_t)1 << 28);    /* x + 1/8 */
    const int32_t d2 = mg_multiply_high(d, d);
    const int32_t d3 = mg_multiply_high(d2, d);
    const int32_t d4_over_4 = mg_divide_by_power_of_two(mg_multiply_high(d2, d2), 2);
    const int32_t d4_over_12_plus_d3_over_3 = mg_multiply_high(d4_over_4 + d3, third);
    const int32_t tail = mg_divide_by_power_of_two(d4_over_12_plus_d3_over_3 + d2, 1);
    return exp_minus_eighth + mg_multiply_high(exp_minus_eighth, d + tail);
}

/* exp(x) as Q0.31, for x as Q5.26 in (-32, 0]. x is a rest in [-1/4, 0) minus a multiple of 1/4.
 * The result is exp(rest) times one known factor for each bit set in the multiple. */
MG_INLINE int32_t mg_exp_of_negative(int32_t x)
{
    /* exp(-2^k) as Q0.31, for k = -2 to 4 */
    static const int32_t factor[7] = {1672461947, 1302514674, 790015084, 290630308,
                                      39332535,   720401,     242};
    const int32_t quarter = (int32_t)1 << 24;
    const int32_t rest = (x & (quarter - 1)) - quarter;
    const int32_t multiple = rest - x;
    int32_t result = mg_exp_of_quarter(mg_shift_left(rest, 5));

    for (int32_t k = 0; k < 7; k++) {
        if ((multiple & mg_shift_left(quarter, k)) != 0) {
            result = mg_multiply_high(result, factor[k]);
        }
    }
    return (x == 0) ? INT32_MAX : result;
}

/* 1 / (1 + x) as Q0.31, for x as Q0.31 in [0, 1): three steps of Newton's method in Q2.29. */
MG_INLINE int32_t mg_one_over_one_plus(int32_t x)
{
    const int32_t one = (int32_t)1 << 29;
    const int32_t forty_eight_17ths = 1515870810;       /* 48/17 */
    const int32_t minus_thirty_two_17ths = -1010580540; /* -32/17 */
    const int32_t half_denominator = (x >> 1) + ((int32_t)1 << 30);
    int32_t estimate =
        forty_eight_17ths + mg_multiply_high(half_denominator, minus_thirty_two_17ths);

    for (int32_t step = 0; step < 3; step++) {
        const int32_t error = one - mg_multiply_high(half_denominator, estimate);
        estimate += mg_saturating_shift_left(mg_multiply_high(estimate, error), 2);
    }
    return mg_saturating_shift_left(estimate, 1);
}

#endif
