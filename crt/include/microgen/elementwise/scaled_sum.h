/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and scaling of the kernels that add two quantized tensors of different scales. */
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

#endif
