/* SPDX-License-Identifier: Apache-2.0 */
/* Division of int8 rows by their Euclidean length, in integers only. */
#ifndef MICROGEN_L2_NORMALIZE_S8_H
#define MICROGEN_L2_NORMALIZE_S8_H

#include "microgen/arithmetic/fixed_point.h"
#include "microgen/requantization/requantize.h"

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

#ifdef MG_L2_NORMALIZE_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_l2_normalize_s8, int8_t, int8_t)
#endif

#endif
