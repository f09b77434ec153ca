/* SPDX-License-Identifier: Apache-2.0 */
/* mg_multiply_s8 with the M-profile vector extension: four elements at a time. */
#ifndef MICROGEN_MULTIPLY_S8_MVE_H
#define MICROGEN_MULTIPLY_S8_MVE_H

#include "microgen/blocks/mve.h"
#include "microgen/elementwise/multiply_s8_rows.h"

/* shift may be any that microgen/requantization/requantize.h takes. */
typedef mg_multiply_s8_rows_params mg_multiply_s8_mve_params;

/* Multiplies lhs and rhs into output [rows][size] as mg_multiply_s8 does.
 *
 * Output may be the same buffer as an operand that is not broadcast; otherwise it must not overlap
 * an operand. */
MG_DECLARE_BINARY(mg_multiply_s8_mve, int8_t, int8_t);

#if defined(__ARM_FEATURE_MVE)

/* Up to four values of a row, from the i-th on, or four times the only one. */
MG_INLINE int32x4_t mg_multiply_s8_mve_values(const int8_t *row, int32_t i, int32_t step,
                                              int32_t offset, mve_pred16_t active)
{
    if (step == 0) {
        return vdupq_n_s32(row[0] + offset);
    }
    return vaddq_n_s32(vldrbq_z_s32(&row[i], active), offset);
}

MG_INLINE void mg_multiply_s8_mve_body(const mg_multiply_s8_mve_params *p, const int8_t *lhs,
                                       const int8_t *rhs, int8_t *output)
{
    for (int32_t row = 0; row < p->rows; row++) {
        const int8_t *left = &lhs[row * p->lhs_row];
        const int8_t *right = &rhs[row * p->rhs_row];
        int8_t *to = &output[row * p->size];

        for (int32_t i = 0; i < p->size; i += 4) {
            const mve_pred16_t active = vctp32q((uint32_t)(p->size - i));
            const int32x4_t products =
                vmulq_s32(mg_multiply_s8_mve_values(left, i, p->lhs_step, p->lhs_offset, active),
                          mg_multiply_s8_mve_values(right, i, p->rhs_step, p->rhs_offset, active));
            const int32x4_t scaled = mg_mve_requantize_n(products, p->multiplier, p->shift);
            const int32x4_t stored = mg_mve_offset_and_clamp(scaled, p->output_offset,
                                                             p->activation_min, p->activation_max);
            vstrbq_p_s32(&to[i], stored, active);
        }
    }
}

#ifdef MG_MULTIPLY_S8_MVE_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_BINARY(mg_multiply_s8_mve, int8_t, int8_t)
#endif

#endif

#endif
