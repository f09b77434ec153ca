/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, its logarithm and the division by the Euclidean length, for rows of int8, in integers
 * only. */
#ifndef MICROGEN_NORMALIZATION_S8_H
#define MICROGEN_NORMALIZATION_S8_H

#include "microgen/arithmetic/clamp.h"
#include "microgen/arithmetic/fixed_point.h"
#include "microgen/reductions/each_row.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    int32_t outer_size;       /* rows */
    int32_t depth;            /* elements of a row: 1 to 4095 */
    int32_t input_multiplier; /* Q31: from beta * input scale to Q5.26 */
    int32_t input_left_shift; /* input_multiplier * 2^input_left_shift; 0 to 31 */
    int32_t diff_min;         /* smaller differences to the row's maximum become -infinity */
} mg_softmax_s8_params;

/* exp(beta * scale * difference) as Q0.31. difference must be 0 or less. It is most of the kernel's
 * code, so there is one copy for both of its calls. */
MG_ONCE int32_t mg_softmax_exp(const mg_softmax_s8_params *p, int32_t difference)
{
    int32_t result = 0;

    if (difference >= p->diff_min) {
        const int32_t shifted = mg_shift_left(difference, p->input_left_shift);
        result = mg_exp_of_negative(mg_multiply_high(shifted, p->input_multiplier));
    }
    return result;
}

/* Computes a row into int16 values if `is_wide`, otherwise into int8 values. */
MG_INLINE void mg_softmax_s8_row_of(const mg_softmax_s8_params *p, const int8_t *input,
                                    void *output, int is_wide)
{
    int32_t largest = INT8_MIN;
    int32_t sum = 0;      /* Q12.19; at least 1.0, because the largest value adds exp(0) */
    int32_t headroom = 0; /* leading zeros of sum: 1 to 12 */
    int32_t reciprocal = 0;
    int32_t exponent = 0; /* 23 to 34, or 15 to 26 */

    MG_ROW_MAXIMUM(largest, input, p->depth)
    for (int32_t i = 0; i < p->depth; i++) {
        sum += mg_divide_by_power_of_two(mg_softmax_exp(p, input[i] - largest), 12);
    }
    while (((uint32_t)sum << headroom) < ((uint32_t)1 << 31)) {
        headroom++;
    }
    reciprocal = mg_one_over_one_plus((int32_t)(((uint32_t)sum << headroom) - ((uint32_t)1 << 31)));
    exponent = 12 - headroom + 31 - (is_wide ? 16 : 8);

    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t quotient =
            mg_multiply_high(reciprocal, mg_softmax_exp(p, input[i] - largest));
        if (is_wide) {
            const int32_t scaled = mg_divide_by_power_of_two(quotient, exponent);
            ((int16_t *)output)[i] = mg_clamp_s16(scaled + INT16_MIN, INT16_MIN, INT16_MAX);
        } else {
            /* For sums of 512 and more the divisor is at least 2^32, so the quotient of an int32 is
             * 0. */
            const int32_t scaled =
                (exponent > 31) ? 0 : mg_divide_by_power_of_two(quotient, exponent);
            ((int8_t *)output)[i] = mg_offset_and_clamp(scaled, INT8_MIN, INT8_MIN, INT8_MAX);
        }
    }
}

MG_INLINE void mg_softmax_s8_row(const mg_softmax_s8_params *p, const int8_t *input, int8_t *output)
{
    mg_softmax_s8_row_of(p, input, output, 0);
}

/* Computes softmax of each row of input [outer_size][depth], exp(beta * x) / sum of exp(beta * x),
 * into output [outer_size][depth], whose scale is 1/256 and whose zero point is -128. Output must
 * not overlap the input. */
MG_EACH_ROW(mg_softmax_s8, int8_t, int8_t)

typedef mg_softmax_s8_params mg_softmax_s8_s16_params;

MG_INLINE void mg_softmax_s8_s16_row(const mg_softmax_s8_s16_params *p, const int8_t *input,
                                     int16_t *output)
{
    mg_softmax_s8_row_of(p, input, output, 1);
}

/* Computes softmax of each row of input [outer_size][depth], exp(beta * x) / sum of exp(beta * x),
 * into output [outer_size][depth], whose scale is 2^-16 and whose zero point is -32768. Output must
 * not overlap the input. */
MG_EACH_ROW(mg_softmax_s8_s16, int8_t, int16_t)

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

typedef struct {
    int32_t outer_size;   /* rows */
    int32_t depth;        /* values of a row: at most 33025, so that their squares fit int32 */
    int32_t input_offset; /* minus the input's zero point: -127 to 128 */
} mg_l2_normalize_s8_params;

/* Divides each row of input [outer_size][depth] by its Euclidean length into output of the same
 * shape, whose scale is 1/128 and whose zero point is 0. A row of zeros remains zero.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_DECLARE_UNARY(mg_l2_normalize_s8, int8_t, int8_t);

/* 1 / sqrt(2 x) in Q3.28, for x as Q3.28 in [1/4, 1): five steps of Newton's method from 1. */
MG_INLINE int32_t mg_l2_normalize_s8_newton(int32_t x)
{
    const int32_t half_sqrt_2 = 1518500250;          /* Q0.31 */
    const int32_t three_halves = (int32_t)402653184; /* Q3.28 */
    const int32_t half_x = mg_divide_by_power_of_two(x, 1);
    int32_t estimate = (int32_t)1 << 28;

    for (int32_t step = 0; step < 5; step++) {
        const int32_t square = mg_multiply_high(estimate, estimate);
        const int32_t cube = mg_saturating_shift_left(mg_multiply_high(square, estimate), 6);
        const int32_t next =
            mg_multiply_high(three_halves, estimate) - mg_multiply_high(half_x, cube);
        estimate = mg_saturating_shift_left(next, 3);
    }
    return mg_multiply_high(estimate, half_sqrt_2);
}

/* 1 / sqrt(x) for x >= 0, as a multiplier, which is returned, and a shift;
 * microgen/requantization/requantize.h describes them. 0 is treated as 1. */
MG_INLINE int32_t mg_l2_normalize_s8_inverse_root(int32_t x, int32_t *shift)
{
    int32_t root = INT32_MAX;
    int32_t right = 0;

    if (x > 1) {
        right = 11;
        while (x >= ((int32_t)1 << 29)) {
            x /= 4;
            right++;
        }
        while (x < ((int32_t)1 << 27)) {
            x *= 4;
            right--;
        }
        root = mg_l2_normalize_s8_newton(x / 2);
        for (; right < 0; right++) {
            root *= 2;
        }
    }
    *shift = -right;
    return root;
}

MG_INLINE void mg_l2_normalize_s8_body(const mg_l2_normalize_s8_params *p, const int8_t *input,
                                       int8_t *output)
{
    for (int32_t row = 0; row < p->outer_size; row++) {
        const int8_t *in = &input[row * p->depth];
        int8_t *out = &output[row * p->depth];
        int32_t squares = 0;
        int32_t shift = 0;
        int32_t multiplier = 0;

        for (int32_t i = 0; i < p->depth; i++) {
            const int32_t value = in[i] + p->input_offset;
            squares += value * value;
        }
        multiplier = mg_l2_normalize_s8_inverse_root(squares, &shift);
        for (int32_t i = 0; i < p->depth; i++) {
            const int32_t value = mg_requantize(in[i] + p->input_offset, multiplier, shift + 7);
            out[i] = mg_offset_and_clamp(value, 0, INT8_MIN, INT8_MAX);
        }
    }
}

#ifdef MG_NORMALIZATION_S8_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_softmax_s8, int8_t, int8_t)
MG_DEFINE_UNARY(mg_softmax_s8_s16, int8_t, int16_t)
MG_DEFINE_UNARY(mg_log_softmax_s8, int8_t, int8_t)
MG_DEFINE_UNARY(mg_l2_normalize_s8, int8_t, int8_t)
#endif

#endif
