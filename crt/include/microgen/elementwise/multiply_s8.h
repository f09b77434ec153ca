/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise multiplication of int8 tensors with broadcasting. */
#ifndef MICROGEN_MULTIPLY_S8_H
#define MICROGEN_MULTIPLY_S8_H

#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    MG_BROADCAST_SHAPES
    MG_BROADCAST_OFFSETS
    int32_t
        multiplier; /* from products to the output, as microgen/requantization/requantize.h says */
    int32_t shift;  /* -31 to 30 */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* activation_min to 127 */
} mg_multiply_s8_params;

/* The stored output value of the product of two stored values. */
MG_INLINE int32_t mg_scaled_product(const mg_multiply_s8_params *p, int32_t lhs, int32_t rhs)
{
    const int32_t product = (lhs + p->lhs_offset) * (rhs + p->rhs_offset);
    return mg_offset_and_clamp_wide(mg_requantize(product, p->multiplier, p->shift),
                                    p->output_offset, p->activation_min, p->activation_max);
}

MG_INLINE int8_t mg_multiply_s8_element(const mg_multiply_s8_params *p, int8_t lhs, int8_t rhs)
{
    return (int8_t)mg_scaled_product(p, lhs, rhs);
}

/* Multiplies lhs by rhs into output [shape[0]][shape[1]][shape[2]][shape[3]], requantized with
 * double rounding and clamped.
 *
 * Output may be the same buffer as an operand that has the output's shape; otherwise it must not
 * overlap an operand. */
MG_EACH_PAIR(mg_multiply_s8, int8_t, int8_t, int8_t)

#ifdef MG_MULTIPLY_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_BINARY(mg_multiply_s8, int8_t, int8_t)
#endif

#endif
