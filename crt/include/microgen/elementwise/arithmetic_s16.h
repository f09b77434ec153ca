/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise arithmetic of int16 tensors with broadcasting, requantized with double rounding. */
#ifndef MICROGEN_ARITHMETIC_S16_H
#define MICROGEN_ARITHMETIC_S16_H

#include "microgen/elementwise/broadcast.h"
#include "microgen/elementwise/multiply_s8.h"
#include "microgen/elementwise/scaled_sum.h"
#include "microgen/requantization/requantize.h"

#ifdef MG_ARITHMETIC_S16_IMPLEMENTATION /* with the out-of-line forms */
#define MG_ARITHMETIC_S16_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_ARITHMETIC_S16_EACH MG_ELEMENTWISE
#endif

/* The stored output value of a sum of scaled operands. */
MG_INLINE int32_t mg_stored_sum_s16(const mg_scaled_sum_params *p, int32_t sum)
{
    return mg_offset_and_clamp_wide(mg_requantize(sum, p->output_multiplier, p->output_shift),
                                    p->output_offset, p->activation_min, p->activation_max);
}

MG_ARITHMETIC_S16_EACH(mg_add_s16, mg_scaled_sum_params, int16_t, int16_t,
                       mg_stored_sum_s16(p, mg_scaled_left(p, lhs) + mg_scaled_right(p, rhs)))
MG_ARITHMETIC_S16_EACH(mg_subtract_s16, mg_scaled_sum_params, int16_t, int16_t,
                       mg_stored_sum_s16(p, mg_scaled_left(p, lhs) - mg_scaled_right(p, rhs)))
MG_ARITHMETIC_S16_EACH(mg_multiply_s16, mg_multiply_s8_params, int16_t, int16_t,
                       mg_scaled_product(p, lhs, rhs))

#endif
