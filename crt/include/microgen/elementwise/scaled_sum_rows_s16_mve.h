/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of microgen/elementwise/scaled_sum_rows_s16.h with the M-profile vector extension:
 * four elements at a time. Requantization is that of microgen/blocks/mve.h. */
#ifndef MICROGEN_SCALED_SUM_ROWS_S16_MVE_H
#define MICROGEN_SCALED_SUM_ROWS_S16_MVE_H

#include "microgen/blocks/mve.h"
#include "microgen/elementwise/scaled_sum_rows_s16.h"

/* Compute output [rows][size] as mg_add_s16 and mg_subtract_s16 do, with zero points of 0.
 *
 * Output may be the same buffer as an operand that is not broadcast; otherwise it must not overlap
 * an operand. */
MG_DECLARE_SCALED_SUM_S16(mg_add_s16_mve);
MG_DECLARE_SCALED_SUM_S16(mg_subtract_s16_mve);

#if defined(__ARM_FEATURE_MVE)

/* Computes a row, four pairs at a time. */
#if defined(__OPTIMIZE__)
/* `combined` makes the sum or difference of q0 and q1 in q0. In assembly, because GCC 12 does not
 * form tail-predicated loops from intrinsics. */
#define MG_SCALED_SUM_S16_MVE(combined)                                                            \
    __asm__ volatile("wlstp.32 lr, %[size], 2f\n"                                                  \
                     "1:\n\t"                                                                      \
                     "vldrh.s32 q0, [%[scaled]], #8\n\t"                                           \
                     "vldrh.s32 q1, [%[halved]], #8\n\t"                                           \
                     "vshl.i32 q0, q0, #15\n\t"                                                    \
                     "vshr.s32 q2, q0, #31\n\t"                                                    \
                     "vqrdmulh.s32 q0, q0, %[multiplier]\n\t"                                      \
                     "vshl.i32 q1, q1, #14\n\t"                                                    \
                     "vadd.i32 q0, q0, q2\n\t"                                                     \
                     "vrshl.s32 q0, %[shift]\n\t" combined "vshr.s32 q2, q0, #31\n\t"              \
                     "vqrdmulh.s32 q0, q0, %[output_multiplier]\n\t"                               \
                     "vadd.i32 q0, q0, q2\n\t"                                                     \
                     "vrshl.s32 q0, %[output_shift]\n\t"                                           \
                     "vmax.s32 q0, q0, %q[low]\n\t"                                                \
                     "vmin.s32 q0, q0, %q[high]\n\t"                                               \
                     "vstrh.32 q0, [%[output]], #8\n\t"                                            \
                     "letp lr, 1b\n"                                                               \
                     "2:"                                                                          \
                     : [scaled] "+l"(scaled), [halved] "+l"(halved), [output] "+l"(output)         \
                     : [size] "r"(p->size), [multiplier] "r"(p->multiplier),                       \
                       [shift] "r"(p->shift), [output_multiplier] "r"(p->output_multiplier),       \
                       [output_shift] "r"(p->output_shift), [low] "w"(low), [high] "w"(high)       \
                     : "lr", "q0", "q1", "q2", "memory")

MG_INLINE void mg_scaled_sum_s16_mve_row(const mg_scaled_sum_rows_s16_params *p,
                                         const int16_t *scaled, const int16_t *halved,
                                         int16_t *output, int32_t kind)
{
    const int32x4_t low = vdupq_n_s32(p->activation_min);
    const int32x4_t high = vdupq_n_s32(p->activation_max);

    if (kind == MG_SUM_OF_BOTH) {
        MG_SCALED_SUM_S16_MVE("vadd.i32 q0, q0, q1\n\t");
    } else if (kind == MG_SUM_LESS_SCALED) {
        MG_SCALED_SUM_S16_MVE("vsub.i32 q0, q1, q0\n\t");
    } else {
        MG_SCALED_SUM_S16_MVE("vsub.i32 q0, q0, q1\n\t");
    }
}
#else
MG_INLINE void mg_scaled_sum_s16_mve_row(const mg_scaled_sum_rows_s16_params *p,
                                         const int16_t *scaled, const int16_t *halved,
                                         int16_t *output, int32_t kind)
{
    mg_scaled_sum_s16_row(p, scaled, halved, output, kind);
}
#endif

MG_SCALED_SUM_S16_BODY(mg_add_s16_mve, mg_scaled_sum_s16_mve_row, MG_SUM_OF_BOTH)
MG_SCALED_SUM_S16_BODY(mg_subtract_s16_mve, mg_scaled_sum_s16_mve_row,
                       (p->scales_rhs != 0) ? MG_SUM_LESS_SCALED : MG_SUM_LESS_HALVED)

#ifdef MG_SCALED_SUM_ROWS_S16_MVE_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_BINARY(mg_add_s16_mve, int16_t, int16_t)
MG_DEFINE_BINARY(mg_subtract_s16_mve, int16_t, int16_t)
#endif

#endif

#endif
