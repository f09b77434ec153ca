/* SPDX-License-Identifier: Apache-2.0 */
/* mg_multiply_s8 with the M-profile vector extension: four elements at a time. */
#ifndef MICROGEN_MULTIPLY_S8_MVE_H
#define MICROGEN_MULTIPLY_S8_MVE_H

#include "microgen/blocks/mve.h"
#include "microgen/elementwise/multiply_s8_rows.h"
#include "microgen/elementwise/splat_mve.h"

/* shift may be any that microgen/requantization/requantize.h takes. */
typedef mg_multiply_s8_rows_params mg_multiply_s8_mve_params;

/* Multiplies lhs and rhs into output [rows][size] as mg_multiply_s8 does.
 *
 * Output may be the same buffer as an operand that is not broadcast; otherwise it must not overlap
 * an operand. */
MG_DECLARE_BINARY(mg_multiply_s8_mve, int8_t, int8_t);

#if defined(__ARM_FEATURE_MVE)

#if defined(__OPTIMIZE__)
/* Computes eights of elements whose products are shifted to the right. `scalars` are the offsets of
 * the operands, the multiplier, the shift, the output's offset, the bytes from eight values of each
 * operand to the next, which are 0 if it is broadcast, and the number of eights. In assembly,
 * because GCC 12 has too few registers. */
MG_INLINE void mg_multiply_s8_mve_eights(const int32_t scalars[8], int32x4_t low, int32x4_t high,
                                         const int8_t *lhs, const int8_t *rhs, int8_t *output)
{
    __asm__ volatile("ldm %[scalars], {r4, r5, r6, r8, r9, r10, r11, r12}\n\t"
                     "dls lr, r12\n"
                     "1:\n\t"
                     "vldrb.s32 q0, [%[lhs]]\n\t"
                     "vldrb.s32 q2, [%[lhs], #4]\n\t"
                     "vadd.i32 q0, q0, r4\n\t"
                     "vldrb.s32 q1, [%[rhs]]\n\t"
                     "vadd.i32 q2, q2, r4\n\t"
                     "vldrb.s32 q3, [%[rhs], #4]\n\t"
                     "vadd.i32 q1, q1, r5\n\t"
                     "add %[lhs], %[lhs], r10\n\t"
                     "vadd.i32 q3, q3, r5\n\t"
                     "vmul.i32 q0, q0, q1\n\t"
                     "add %[rhs], %[rhs], r11\n\t"
                     "vmul.i32 q2, q2, q3\n\t"
                     "vshr.s32 q1, q0, #31\n\t"
                     "vqrdmulh.s32 q0, q0, r6\n\t"
                     "vshr.s32 q3, q2, #31\n\t"
                     "vqrdmulh.s32 q2, q2, r6\n\t"
                     "vadd.i32 q0, q0, q1\n\t"
                     "vadd.i32 q2, q2, q3\n\t"
                     "vrshl.s32 q0, r8\n\t"
                     "vrshl.s32 q2, r8\n\t"
                     "vadd.i32 q0, q0, r9\n\t"
                     "vadd.i32 q2, q2, r9\n\t"
                     "vmax.s32 q0, q0, %q[low]\n\t"
                     "vmax.s32 q2, q2, %q[low]\n\t"
                     "vmin.s32 q0, q0, %q[high]\n\t"
                     "vmin.s32 q2, q2, %q[high]\n\t"
                     "vstrb.32 q0, [%[output]], #4\n\t"
                     "vstrb.32 q2, [%[output]], #4\n\t"
                     "le lr, 1b"
                     : MG_PAIR_POINTERS_MVE(lhs, rhs, output)
                     : [low] "w"(low), [high] "w"(high), [scalars] "l"(scalars)
                     : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "q0", "q1", "q2",
                       "q3", "memory");
}
#endif

/* Computes the elements of a row from the i-th on. A value that is broadcast is there MG_SPLAT_MVE
 * times. */
MG_INLINE void mg_multiply_s8_mve_rest(const mg_multiply_s8_mve_params *p, const int8_t *lhs,
                                       const int8_t *rhs, int8_t *output, int32_t i)
{
    for (; i < p->size; i += 4) {
        const mve_pred16_t active = vctp32q((uint32_t)(p->size - i));
        const int32x4_t x = vldrbq_z_s32(&lhs[i * p->lhs_step], active);
        const int32x4_t y = vldrbq_z_s32(&rhs[i * p->rhs_step], active);
        const int32x4_t products =
            vmulq_s32(vaddq_n_s32(x, p->lhs_offset), vaddq_n_s32(y, p->rhs_offset));
        const int32x4_t scaled = mg_mve_requantize_n(products, p->multiplier, p->shift);
        const int32x4_t stored =
            mg_mve_offset_and_clamp(scaled, p->output_offset, p->activation_min, p->activation_max);
        vstrbq_p_s32(&output[i], stored, active);
    }
}

MG_INLINE void mg_multiply_s8_mve_body(const mg_multiply_s8_mve_params *p, const int8_t *lhs,
                                       const int8_t *rhs, int8_t *output)
{
    int8_t splat[MG_SPLAT_MVE];
#if defined(__OPTIMIZE__)
    const int32_t scalars[8] = {
        p->lhs_offset,    p->rhs_offset,   p->multiplier,   p->shift,
        p->output_offset, 8 * p->lhs_step, 8 * p->rhs_step, p->size >> 3,
    };
    const int32x4_t low = vdupq_n_s32(p->activation_min);
    const int32x4_t high = vdupq_n_s32(p->activation_max);
#endif

    for (int32_t row = 0; row < p->rows; row++) {
        const int8_t *const x = mg_splat_mve(&lhs[row * p->lhs_row], p->lhs_step, p->size, splat);
        const int8_t *const y = mg_splat_mve(&rhs[row * p->rhs_row], p->rhs_step, p->size, splat);
        int8_t *const to = &output[row * p->size];
        int32_t done = 0;
#if defined(__OPTIMIZE__)
        if (p->size >= 8 && p->shift < 0) {
            mg_multiply_s8_mve_eights(scalars, low, high, x, y, to);
            done = p->size & ~7;
        }
#endif
        mg_multiply_s8_mve_rest(p, x, y, to, done);
    }
}

#ifdef MG_MULTIPLY_S8_MVE_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_BINARY(mg_multiply_s8_mve, int8_t, int8_t)
#endif

#endif

#endif
