/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax over the last axis of int8 tensors, with int16 outputs, in integers only. */
#ifndef MICROGEN_SOFTMAX_S8_S16_H
#define MICROGEN_SOFTMAX_S8_S16_H

#include "microgen/arithmetic/clamp_s16.h"
#include "microgen/arithmetic/fixed_point.h"
#include "microgen/reductions/each_row.h"
#include "microgen/reductions/softmax_s8.h"

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

#ifdef MG_SOFTMAX_S8_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_softmax_s8_s16, int8_t, int16_t)
#endif

#endif
