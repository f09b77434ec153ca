/* SPDX-License-Identifier: Apache-2.0 */
/* Logarithm of softmax over the last axis of int8 tensors, in integers only. */
#ifndef MICROGEN_LOG_SOFTMAX_S8_H
#define MICROGEN_LOG_SOFTMAX_S8_H

#include "microgen/arithmetic/fixed_point.h"
#include "microgen/reductions/each_row.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    int32_t outer_size;         /* rows */
    int32_t depth;              /* elements of a row: 1 to 4095 */
    int32_t input_multiplier;   /* Q31: from the input's scale to Q5.26 */
    int32_t input_left_shift;   /* input_multiplier * 2^input_left_shift; 0 to 31 */
    int32_t diff_min;           /* smaller differences to the row's maximum become -infinity */
    int32_t reverse_multiplier; /* Q31: from Q5.26 back to the input's scale */
    int32_t reverse_shift;      /* -31 to 0 */
} mg_log_softmax_s8_params;

/* The number of leading zeros of x, which is positive, without the sign bit. */
MG_INLINE int32_t mg_log_softmax_s8_headroom(int32_t x)
{
    int32_t headroom = 0;

    while (((uint32_t)x << headroom) < ((uint32_t)1 << 30)) {
        headroom++;
    }
    return headroom;
}

/* log(x) as Q5.26, for x as Q12.19, at least 1. x is written as 2^n * r with r near 2^(-1/4); n is
 * an integer plus (a) or minus (b) a quarter. log(r) is a quotient of polynomials. */
MG_INLINE int32_t mg_log_softmax_s8_log(int32_t x)
{
    const int32_t log_2 = 1488522236;          /* log(2) as Q0.31, like those below */
    const int32_t sqrt_half = 1518500250;      /* 2^(-1/2) */
    const int32_t sqrt_sqrt_half = 1805811301; /* 2^(-1/4) */
    const int32_t alpha_n = 117049297;         /* 11/240 * 2^(1/4) */
    const int32_t alpha_d = 127690142;         /* 1/20 * 2^(1/4) */
    const int32_t alpha_i = 1057819769;        /* 2 * 2^(-1/4) - 2^(1/4) */
    const int32_t alpha_f = 638450708;         /* 1/4 * 2^(1/4) */
    const int32_t quarter = (int32_t)1 << 23;  /* Q6.25 */
    const int32_t headroom_a = mg_log_softmax_s8_headroom(x);
    const int32_t headroom_b = mg_log_softmax_s8_headroom(mg_multiply_high(x, sqrt_half));
    const int32_t r_a =
        mg_saturating_shift_left(mg_multiply_high(mg_shift_left(x, headroom_a), sqrt_half), 1);
    const int32_t r_b = mg_saturating_shift_left(x, headroom_b);
    const int32_t n_a = mg_shift_left(11 - headroom_a, 25) + quarter;
    const int32_t n_b = mg_shift_left(12 - headroom_b, 25) - quarter;
    const int32_t r = (r_a < r_b) ? r_a : r_b;
    const int32_t n = (n_a > n_b) ? n_a : n_b;
    const int32_t middle = (int32_t)(((uint32_t)r + (uint32_t)sqrt_sqrt_half + 1U) >> 1);
    const int32_t q = 2 * (r - sqrt_sqrt_half);
    const int32_t q2 = mg_multiply_high(q, q);
    const int32_t numerator =
        mg_multiply_high(q, r) + mg_multiply_high(mg_multiply_high(q, q2), alpha_n);
    const int32_t denominator_minus_1 =
        mg_multiply_high(middle, alpha_i + q + mg_multiply_high(alpha_d, q2)) +
        mg_multiply_high(alpha_f, q);
    const int32_t log_r = mg_multiply_high(mg_divide_by_power_of_two(numerator, 6),
                                           mg_one_over_one_plus(denominator_minus_1));
    return mg_saturating_shift_left(mg_multiply_high(n, log_2) + log_r, 1);
}

/* scale * difference as Q5.26; difference is at most 0 and at least diff_min. */
MG_INLINE int32_t mg_log_softmax_s8_scaled(const mg_log_softmax_s8_params *p, int32_t difference)
{
    return mg_requantize(difference, p->input_multiplier, p->input_left_shift);
}

MG_INLINE void mg_log_softmax_s8_row(const mg_log_softmax_s8_params *p, const int8_t *input,
                                     int8_t *output)
{
    int32_t largest = INT8_MIN;
    int32_t sum = 0; /* Q12.19; at least 1.0, because the largest value adds exp(0) */
    int32_t log_sum = 0;
    int32_t least = 0; /* results of differences up to this are below the range of Q5.26 */

    MG_ROW_MAXIMUM(largest, input, p->depth)
    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t difference = input[i] - largest;
        if (difference >= p->diff_min) {
            const int32_t term = mg_exp_of_negative(mg_log_softmax_s8_scaled(p, difference));
            sum += mg_divide_by_power_of_two(term, 12);
        }
    }
    log_sum = mg_log_softmax_s8_log(sum);
    least = mg_requantize(log_sum + INT32_MIN, p->reverse_multiplier, p->reverse_shift);
    if (least < p->diff_min - 1) {
        least = p->diff_min - 1;
    }

    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t difference = input[i] - largest;
        int32_t steps = INT8_MIN - 127; /* 1/16 each */
        if (difference > least) {
            const int32_t result = mg_log_softmax_s8_scaled(p, difference) - log_sum;
            steps = mg_divide_by_power_of_two(result, 22);
        }
        output[i] = mg_offset_and_clamp(steps, 127, INT8_MIN, INT8_MAX);
    }
}

/* Computes log(softmax(row)) for each row of input [outer_size][depth] into output
 * [outer_size][depth], whose scale is 1/16 and whose zero point is 127.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ROW(mg_log_softmax_s8, int8_t, int8_t)

#ifdef MG_LOG_SOFTMAX_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_log_softmax_s8, int8_t, int8_t)
#endif

#endif
