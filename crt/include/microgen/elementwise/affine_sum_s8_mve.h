/* SPDX-License-Identifier: Apache-2.0 */
/* mg_affine_sum_s8 with the M-profile vector extension: four elements at a time. */
#ifndef MICROGEN_AFFINE_SUM_S8_MVE_H
#define MICROGEN_AFFINE_SUM_S8_MVE_H

#include "microgen/blocks/mve.h"
#include "microgen/elementwise/affine_sum_s8.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/elementwise/splat_mve.h"

typedef mg_affine_sum_s8_params mg_affine_sum_s8_mve_params;

/* Computes what mg_affine_sum_s8 does. */
MG_EXTERN void mg_affine_sum_s8_mve(MG_ARGUMENTS_PAIR_ROWS(mg_affine_sum_s8_mve));

#if defined(__ARM_FEATURE_MVE)

/* The stored values of four sums, each in the lowest byte of its lane. */
MG_INLINE int32x4_t mg_affine_sum_s8_mve_stored(const mg_affine_sum_s8_params *p, int32x4_t sums)
{
    int32x4_t narrow = vshlq_r_s32(sums, -p->shift);
    /* In assembly, because GCC 12 copies the vector before each intrinsic. */
    __asm__("vqmovnb.s32 %q0, %q0" : "+w"(narrow));
    __asm__("vqmovnb.s16 %q0, %q0" : "+w"(narrow));
    int8x16_t stored = vreinterpretq_s8_s32(narrow);
    if (p->activation_min > INT8_MIN) {
        stored = vmaxq_s8(stored, vdupq_n_s8((int8_t)p->activation_min));
    }
    if (p->activation_max < INT8_MAX) {
        stored = vminq_s8(stored, vdupq_n_s8((int8_t)p->activation_max));
    }
    return vreinterpretq_s32_s8(stored);
}

#if defined(__OPTIMIZE__)
/* Stores `pairs` times eight elements that are clamped to int8 only. One quad is multiplied while
 * the other is loaded. In assembly, because GCC 12 orders the intrinsics otherwise and spends four
 * instructions more on addresses. Without optimisation it would need too many registers. */
MG_INLINE void mg_affine_sum_s8_mve_eights(const int8_t *lhs, const int8_t *rhs, int32x4_t a,
                                           const int32_t coefficient[3], int32_t shift,
                                           int8_t *output, int32_t pairs)
{
    __asm__ volatile("dls lr, %[pairs]\n"
                     "1:\n\t"
                     "vldrb.s32 q0, [%[lhs]], #4\n\t"
                     "vldrb.s32 q1, [%[lhs]], #4\n\t"
                     "vmlas.s32 q0, %q[a], %[c]\n\t"
                     "vldrb.s32 q2, [%[rhs]], #4\n\t"
                     "vmlas.s32 q1, %q[a], %[c]\n\t"
                     "vldrb.s32 q3, [%[rhs]], #4\n\t"
                     "vmla.s32 q0, q2, %[b]\n\t"
                     "vmla.s32 q1, q3, %[b]\n\t"
                     "vshl.s32 q0, %[right]\n\t"
                     "vshl.s32 q1, %[right]\n\t"
                     "vqmovnb.s32 q0, q0\n\t"
                     "vqmovnb.s32 q1, q1\n\t"
                     "vqmovnb.s16 q0, q0\n\t"
                     "vqmovnb.s16 q1, q1\n\t"
                     "vstrb.32 q0, [%[output]], #4\n\t"
                     "vstrb.32 q1, [%[output]], #4\n\t"
                     "le lr, 1b"
                     : MG_PAIR_POINTERS_MVE(lhs, rhs, output)
                     : [a] "w"(a), [b] "r"(coefficient[1]), [c] "r"(coefficient[2]),
                       [right] "r"(-shift), [pairs] "r"(pairs)
                     : "lr", "q0", "q1", "q2", "q3", "memory");
}
#endif

/* A row of two operands, neither of them broadcast. */
MG_INLINE void mg_affine_sum_s8_mve_row(const mg_affine_sum_s8_params *p, const int8_t *lhs,
                                        const int8_t *rhs, const int32_t coefficient[3],
                                        int8_t *output)
{
    const int32x4_t a = vdupq_n_s32(coefficient[0]);
    int32_t i = 0;

#if defined(__OPTIMIZE__)
    if (p->size >= 8 && p->activation_min == INT8_MIN && p->activation_max == INT8_MAX) {
        mg_affine_sum_s8_mve_eights(lhs, rhs, a, coefficient, p->shift, output, p->size >> 3);
        i = p->size & ~7;
    }
#endif
    for (; i < p->size; i += 4) {
        const mve_pred16_t active = vctp32q((uint32_t)(p->size - i));
        int32x4_t sums = vmlasq_n_s32(vldrbq_z_s32(lhs + i, active), a, coefficient[2]);
        sums = vmlaq_n_s32(sums, vldrbq_z_s32(rhs + i, active), coefficient[1]);
        vstrbq_p_s32(output + i, mg_affine_sum_s8_mve_stored(p, sums), active);
    }
}

/* A row of x * a + c, where c has the other operand. */
MG_INLINE void mg_affine_sum_s8_mve_line(const mg_affine_sum_s8_params *p, const int8_t *x,
                                         int32_t a, int32_t c, int8_t *output)
{
    const int32x4_t factor = vdupq_n_s32(a);
    const mve_pred16_t rest = vctp32q((uint32_t)p->size & 3U);

    for (int32_t quads = p->size >> 2; quads > 0; quads--) {
        const int32x4_t sums = vmlasq_n_s32(vldrbq_s32(x), factor, c);
        vstrbq_s32(output, mg_affine_sum_s8_mve_stored(p, sums));
        x += 4;
        output += 4;
    }
    if ((p->size & 3) != 0) {
        const int32x4_t sums = vmlasq_n_s32(vldrbq_z_s32(x, rest), factor, c);
        vstrbq_p_s32(output, mg_affine_sum_s8_mve_stored(p, sums), rest);
    }
}

MG_INLINE void mg_affine_sum_s8_mve_body(MG_ARGUMENTS_PAIR_ROWS(mg_affine_sum_s8_mve))
{
    MG_AFFINE_SUM_S8(mg_affine_sum_s8_mve_row, mg_affine_sum_s8_mve_line, p, lhs, rhs, coefficient,
                     output);
}

#ifdef MG_AFFINE_SUM_S8_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_affine_sum_s8_mve, (p, lhs, rhs, coefficient, output),
               MG_ARGUMENTS_PAIR_ROWS(mg_affine_sum_s8_mve))
#endif

#endif

#endif
