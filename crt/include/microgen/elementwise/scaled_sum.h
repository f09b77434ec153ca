/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, differences and squared differences of quantized tensors of different scales. Output may
 * be the same buffer as an operand that has the output's shape; otherwise it must not overlap an
 * operand. */
#ifndef MICROGEN_SCALED_SUM_H
#define MICROGEN_SCALED_SUM_H

#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    MG_BROADCAST_SHAPES
    MG_BROADCAST_OFFSETS
    int32_t left_shift;     /* bits by which operands are shifted left: 0 to 22, int16: 0 to 15 */
    int32_t lhs_multiplier; /* Q31, as microgen/requantization/requantize.h says; the same below */
    int32_t lhs_shift;      /* 0 or less, because operands are scaled by at most 1 */
    int32_t rhs_multiplier;
    int32_t rhs_shift; /* 0 or less */
    int32_t output_multiplier;
    int32_t output_shift;
    int32_t activation_min; /* within the output's type */
    int32_t activation_max; /* the same; activation_min or more */
} mg_scaled_sum_params;

/* The left operand on the common scale of the addition. */
MG_INLINE int32_t mg_scaled_left(const mg_scaled_sum_params *p, int32_t lhs)
{
    return mg_requantize(mg_shift_left(lhs + p->lhs_offset, p->left_shift), p->lhs_multiplier,
                         p->lhs_shift);
}

/* The same for the right operand. */
MG_INLINE int32_t mg_scaled_right(const mg_scaled_sum_params *p, int32_t rhs)
{
    return mg_requantize(mg_shift_left(rhs + p->rhs_offset, p->left_shift), p->rhs_multiplier,
                         p->rhs_shift);
}

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
 * requantized from its own scale, and the sum to the output's scale, with double rounding. */
MG_EACH_PAIR(mg_add_s8, int8_t, int8_t, int8_t)

typedef mg_scaled_sum_params mg_subtract_s8_params; /* the parameters of an addition */

/* The stored output value of the difference of two stored values. */
MG_INLINE int8_t mg_subtract_s8_element(const mg_subtract_s8_params *p, int8_t lhs, int8_t rhs)
{
    return mg_stored_sum_s8(p, mg_scaled_left(p, lhs) - mg_scaled_right(p, rhs));
}

/* Subtracts rhs from lhs into output [shape[0]][shape[1]][shape[2]][shape[3]]. Each operand is
 * requantized from its own scale, and the difference to the output's scale, with double rounding.
 */
MG_EACH_PAIR(mg_subtract_s8, int8_t, int8_t, int8_t)

typedef mg_scaled_sum_params
    mg_squared_difference_s8_params; /* those of an addition; left_shift is at most 7 */

/* Computes (lhs - rhs)^2 into output [shape[0]][shape[1]][shape[2]][shape[3]]. Each operand is
 * requantized from its own scale, and the square to the output's scale, with double rounding. */
MG_DECLARE_BINARY(mg_squared_difference_s8, int8_t, int8_t);

/* The stored output value of the squared difference of two stored values. */
MG_INLINE int8_t mg_squared_difference_s8_element(const mg_squared_difference_s8_params *p,
                                                  int8_t lhs, int8_t rhs)
{
    const int32_t difference = mg_scaled_left(p, lhs) - mg_scaled_right(p, rhs);
    return mg_stored_sum_s8(p, difference * difference);
}

MG_INLINE void mg_squared_difference_s8_body(const mg_squared_difference_s8_params *p,
                                             const int8_t *lhs, const int8_t *rhs, int8_t *output)
{
    MG_BROADCAST(mg_squared_difference_s8_element, p, lhs, rhs, output);
}

#ifdef MG_SCALED_SUM_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_BINARY(mg_add_s8, int8_t, int8_t)
MG_DEFINE_BINARY(mg_subtract_s8, int8_t, int8_t)
MG_DEFINE_BINARY(mg_squared_difference_s8, int8_t, int8_t)
#endif

#endif
