/* SPDX-License-Identifier: Apache-2.0 */
/* Relay's qnn.add, qnn.subtract and qnn.mul of int8 tensors, with broadcasting: one rounding. */
#ifndef MICROGEN_RESCALED_ARITHMETIC_S8_H
#define MICROGEN_RESCALED_ARITHMETIC_S8_H

#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/requantize_once.h"

#ifdef MG_RESCALED_ARITHMETIC_S8_IMPLEMENTATION /* with the out-of-line forms */
#define MG_RESCALED_ARITHMETIC_S8_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_RESCALED_ARITHMETIC_S8_EACH MG_ELEMENTWISE
#endif

typedef struct {
    MG_BROADCAST_SHAPES
    MG_BROADCAST_OFFSETS
    int32_t lhs_multiplier; /* from the operand's to the output's scale;
                               microgen/requantization/requantize.h */
    int32_t lhs_shift;
    int32_t rhs_multiplier;
    int32_t rhs_shift;
    int32_t ties; /* MG_TIES_UPWARD or MG_TIES_AWAY */
} mg_rescaled_sum_params;

typedef struct {
    MG_BROADCAST_SHAPES
    MG_BROADCAST_OFFSETS
    int32_t
        multiplier; /* from products to the output, as microgen/requantization/requantize.h says */
    int32_t shift;
    int32_t ties; /* MG_TIES_UPWARD or MG_TIES_AWAY */
} mg_rescaled_product_params;

/* Each operand on the output's scale, without a zero point. */
MG_INLINE uint32_t mg_rescaled_left(const mg_rescaled_sum_params *p, int32_t lhs)
{
    return (uint32_t)mg_requantize_once(lhs + p->lhs_offset, p->lhs_multiplier, p->lhs_shift,
                                        p->ties);
}

MG_INLINE uint32_t mg_rescaled_right(const mg_rescaled_sum_params *p, int32_t rhs)
{
    return (uint32_t)mg_requantize_once(rhs + p->rhs_offset, p->rhs_multiplier, p->rhs_shift,
                                        p->ties);
}

/* x + offset modulo 2^32, saturated. */
MG_INLINE int8_t mg_rescaled_stored(uint32_t x, int32_t offset)
{
    return mg_offset_and_clamp((int32_t)x, offset, INT8_MIN, INT8_MAX);
}

/* Sums and differences are those of the rescaled operands, modulo 2^32. Products are rescaled after
 * the multiplication. */
MG_RESCALED_ARITHMETIC_S8_EACH(
    mg_rescaled_add_s8, mg_rescaled_sum_params, int8_t, int8_t,
    mg_rescaled_stored(mg_rescaled_left(p, lhs) + mg_rescaled_right(p, rhs), p->output_offset))
MG_RESCALED_ARITHMETIC_S8_EACH(
    mg_rescaled_subtract_s8, mg_rescaled_sum_params, int8_t, int8_t,
    mg_rescaled_stored(mg_rescaled_left(p, lhs) - mg_rescaled_right(p, rhs), p->output_offset))
MG_RESCALED_ARITHMETIC_S8_EACH(
    mg_rescaled_multiply_s8, mg_rescaled_product_params, int8_t, int8_t,
    mg_rescaled_stored((uint32_t)mg_requantize_once((lhs + p->lhs_offset) * (rhs + p->rhs_offset),
                                                    p->multiplier, p->shift, p->ties),
                       p->output_offset))

#endif
