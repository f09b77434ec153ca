/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise addition of int8 tensors with broadcasting. */
#ifndef MICROGEN_ADD_S8_H
#define MICROGEN_ADD_S8_H

#include "microgen/elementwise/broadcast.h"
#include "microgen/elementwise/scaled_sum.h"
#include "microgen/requantization/requantize.h"

typedef mg_scaled_sum_params mg_add_s8_params;

/* The stored output value of a sum of scaled operands. */
MG_INLINE int8_t mg_stored_sum_s8(const mg_scaled_sum_params *p, int32_t sum)
{
    return mg_offset_and_clamp(mg_requantize(sum, p->output_multiplier, p->output_shift),
                               p->output_offset, p->activation_min, p->activation_max);
}

/* The stored output value of the sum of two stored values. */
MG_INLINE int8_t mg_add_s8_element(const mg_add_s8_params *p, int8_t lhs, int8_t rhs)
{
    return mg_stored_sum_s8(p, mg_scaled_left(p, lhs) + mg_scaled_right(p, rhs));
}

/* Adds lhs and rhs into output [shape[0]][shape[1]][shape[2]][shape[3]]. Each operand is
 * requantized from its own scale, and the sum to the output's scale, with double rounding.
 *
 * Output may be the same buffer as an operand that has the output's shape; otherwise it must not
 * overlap an operand. */
MG_EACH_PAIR(mg_add_s8, int8_t, int8_t, int8_t)

#ifdef MG_ADD_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_BINARY(mg_add_s8, int8_t, int8_t)
#endif

#endif
