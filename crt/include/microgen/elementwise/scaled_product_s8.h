/* SPDX-License-Identifier: Apache-2.0 */
/* Products of int8 tensors, scaled by one long multiplication.
 *
 * out = clamp(((lhs - zero) * (rhs - zero) * A + C) >> 32). A and C are found when the project is
 * generated (microgen/graph/arithmetic/affine.py), and they are used only if all 65,536 pairs of
 * values give exactly what the operator's reference gives. */
#ifndef MICROGEN_SCALED_PRODUCT_S8_H
#define MICROGEN_SCALED_PRODUCT_S8_H

#include "microgen/arithmetic/saturate.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    MG_PAIR_ROWS
    int32_t lhs_offset;     /* minus the zero point: -127 to 128 */
    int32_t rhs_offset;     /* the same */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* the same; activation_min or more */
} mg_scaled_product_s8_params;

/* Computes output [rows][size]. coefficient is A, 0 or more, and the lower and the higher word of
 * C, which is less than 2^57. The product of two values is less than 2^17, so sums are far from
 * exceeding int64, and their upper words fit int32.
 *
 * Output may be the same buffer as an operand that is not broadcast; otherwise it must not overlap
 * an operand. */
MG_EXTERN void mg_scaled_product_s8(MG_ARGUMENTS_PAIR_ROWS(mg_scaled_product_s8));

/* C. */
MG_INLINE int64_t mg_scaled_product_s8_constant(const int32_t coefficient[3])
{
    return (int64_t)coefficient[2] * ((int64_t)1 << 32) + (int64_t)(uint32_t)coefficient[1];
}

/* The stored value of two values without their zero points. */
MG_INLINE int8_t mg_scaled_product_s8_stored(const mg_scaled_product_s8_params *p, int32_t lhs,
                                             int32_t rhs, int32_t factor, int64_t constant)
{
    const int64_t sum = (int64_t)(lhs * rhs) * factor + constant;
    return mg_clamp_s8((int32_t)mg_shift_right_64(sum, 32), p->activation_min, p->activation_max);
}

MG_INLINE void mg_scaled_product_s8_body(MG_ARGUMENTS_PAIR_ROWS(mg_scaled_product_s8))
{
    const int64_t constant = mg_scaled_product_s8_constant(coefficient);
    const int32_t factor = coefficient[0];

    for (int32_t row = 0; row < p->rows; row++) {
        const int8_t *left = &lhs[row * p->lhs_row];
        const int8_t *right = &rhs[row * p->rhs_row];
        int8_t *to = &output[row * p->size];

        for (int32_t i = 0; i < p->size; i++) {
            to[i] = mg_scaled_product_s8_stored(p, left[i * p->lhs_step] + p->lhs_offset,
                                                right[i * p->rhs_step] + p->rhs_offset, factor,
                                                constant);
        }
    }
}

#ifdef MG_SCALED_PRODUCT_S8_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_scaled_product_s8, (p, lhs, rhs, coefficient, output),
               MG_ARGUMENTS_PAIR_ROWS(mg_scaled_product_s8))
#endif

#endif
