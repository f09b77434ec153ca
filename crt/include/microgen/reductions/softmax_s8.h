/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax over the last axis of int8 tensors, in integers only. */
#ifndef MICROGEN_SOFTMAX_S8_H
#define MICROGEN_SOFTMAX_S8_H

#include "microgen/arithmetic/clamp_s16.h"
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

MG_INLINE void mg_softmax_s8_row(const mg_softmax_s8_params *p, const int8_t *input, int8_t *output)
{
    int32_t largest = INT8_MIN;
    int32_t sum = 0;      /* Q12.19; at least 1.0, because the largest value adds exp(0) */
    int32_t headroom = 0; /* leading zeros of sum */
    int32_t reciprocal = 0;
    int32_t exponent = 0;

    MG_ROW_MAXIMUM(largest, input, p->depth)
    for (int32_t i = 0; i < p->depth; i++) {
        sum += mg_divide_by_power_of_two(mg_softmax_exp(p, input[i] - largest), 12);
    }
    while (((uint32_t)sum << headroom) < ((uint32_t)1 << 31)) {
        headroom++;
    }
    reciprocal = mg_one_over_one_plus((int32_t)(((uint32_t)sum << headroom) - ((uint32_t)1 << 31)));
    exponent = 12 - headroom + 31 - 8;

    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t quotient =
            mg_multiply_high(reciprocal, mg_softmax_exp(p, input[i] - largest));
        /* For sums of 512 and more the divisor is at least 2^32, so the quotient of an int32 is
         * 0. */
        const int32_t scaled = (exponent > 31) ? 0 : mg_divide_by_power_of_two(quotient, exponent);
        output[i] = mg_offset_and_clamp(scaled, INT8_MIN, INT8_MIN, INT8_MAX);
    }
}

/* Computes softmax of each row of input [outer_size][depth], exp(beta * x) / sum of exp(beta * x),
 * into output [outer_size][depth], whose scale is 1/256 and whose zero point is -128. Output must
 * not overlap the input. */
MG_EACH_ROW(mg_softmax_s8, int8_t, int8_t)

typedef mg_softmax_s8_params mg_softmax_s8_s16_params;

MG_INLINE void mg_softmax_s8_s16_row(const mg_softmax_s8_s16_params *p, const int8_t *input,
                                     int16_t *output)
{
    int32_t largest = INT8_MIN;
    int32_t sum = 0;      /* Q12.19; at least 1.0, because the largest value adds exp(0) */
    int32_t headroom = 0; /* leading zeros of sum: 1 to 12 */
    int32_t reciprocal = 0;
    int32_t exponent = 0; /* 15 to 26 */

    MG_ROW_MAXIMUM(largest, input, p->depth)
    for (int32_t i = 0; i < p->depth; i++) {
        sum += mg_divide_by_power_of_two(mg_softmax_exp(p, input[i] - largest), 12);
    }
    while (((uint32_t)sum << headroom) < ((uint32_t)1 << 31)) {
        headroom++;
    }
    reciprocal = mg_one_over_one_plus((int32_t)(((uint32_t)sum << headroom) - ((uint32_t)1 << 31)));
    exponent = 12 - headroom + 31 - 16;

    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t quotient =
            mg_multiply_high(reciprocal, mg_softmax_exp(p, input[i] - largest));
        const int32_t scaled = mg_divide_by_power_of_two(quotient, exponent);
        output[i] = mg_clamp_s16(scaled + INT16_MIN, INT16_MIN, INT16_MAX);
    }
}

/* Computes softmax of each row of input [outer_size][depth], exp(beta * x) / sum of exp(beta * x),
 * into output [outer_size][depth], whose scale is 2^-16 and whose zero point is -32768. Output must
 * not overlap the input. */
MG_EACH_ROW(mg_softmax_s8_s16, int8_t, int16_t)

#ifdef MG_SOFTMAX_S8_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_softmax_s8, int8_t, int8_t)
MG_DEFINE_UNARY(mg_softmax_s8_s16, int8_t, int16_t)
#endif

#endif
