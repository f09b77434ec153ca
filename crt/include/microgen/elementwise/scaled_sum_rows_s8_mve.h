/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of microgen/elementwise/scaled_sum_rows_s8.h with the M-profile vector extension:
 * four elements at a time. Requantization is that of microgen/blocks/mve.h. */
#ifndef MICROGEN_SCALED_SUM_ROWS_S8_MVE_H
#define MICROGEN_SCALED_SUM_ROWS_S8_MVE_H

#include "microgen/blocks/mve.h"
#include "microgen/elementwise/scaled_sum_rows_s8.h"
#include "microgen/elementwise/splat_mve.h"

/* Compute output [rows][size] as mg_add_s8, mg_subtract_s8 and mg_squared_difference_s8 do.
 *
 * Output may be the same buffer as an operand that is not broadcast; otherwise it must not overlap
 * an operand. */
MG_DECLARE_SCALED_SUM(mg_add_s8_mve);
MG_DECLARE_SCALED_SUM(mg_subtract_s8_mve);
MG_DECLARE_SCALED_SUM(mg_squared_difference_s8_mve);

#if defined(__ARM_FEATURE_MVE)

/* The stored values of up to four pairs. */
MG_INLINE int32x4_t mg_scaled_sum_mve_stored(const mg_scaled_sum_rows_params *p, int32x4_t scaled,
                                             int32x4_t halved, int32_t kind)
{
    const int32_t unit = (kind == MG_SUM_SQUARED) ? 1 << MG_SQUARE_SHIFTED : 1 << MG_SUM_SHIFTED;
    const int32x4_t shifted = vmlasq_n_s32(scaled, vdupq_n_s32(unit), p->scaled_offset * unit);
    const int32x4_t product = vqrdmulhq_n_s32(shifted, p->multiplier);
    const int32x4_t first = vrshlq_n_s32(vaddq_s32(product, vshrq_n_s32(shifted, 31)), p->shift);
    const int32_t half = unit / 2;
    const int32x4_t second = vmlasq_n_s32(halved, vdupq_n_s32(half), p->halved_offset * half);
    int32x4_t sum = vsubq_s32(first, second);
    if (kind == MG_SUM_OF_BOTH) {
        sum = vaddq_s32(first, second);
    } else if (kind == MG_SUM_LESS_SCALED) {
        sum = vsubq_s32(second, first);
    } else if (kind == MG_SUM_SQUARED) {
        sum = vmulq_s32(sum, sum);
    }
    const int32x4_t high = vqrdmulhq_n_s32(sum, p->output_multiplier);
    const int32x4_t away = vaddq_s32(high, vshrq_n_s32(sum, 31));
    return mg_mve_offset_and_clamp(vrshlq_n_s32(away, p->output_shift), p->output_offset,
                                   p->activation_min, p->activation_max);
}

#if defined(__OPTIMIZE__)
/* A sum of both operands in vectors a and b, which is in a at the end, with its sign in b. */
#define MG_SUM_MVE_SIGN(a, b) "vshr.s32 " b ", " a ", #31\n\t"
#define MG_SUM_MVE_OF_BOTH(a, b) "vadd.i32 " a ", " a ", " b "\n\t" MG_SUM_MVE_SIGN(a, b)
#define MG_SUM_MVE_LESS_SCALED(a, b) "vsub.i32 " a ", " b ", " a "\n\t" MG_SUM_MVE_SIGN(a, b)
#define MG_SUM_MVE_LESS_HALVED(a, b) "vsub.i32 " a ", " a ", " b "\n\t" MG_SUM_MVE_SIGN(a, b)
#define MG_SUM_MVE_SQUARED(a, b)                                                                   \
    "vsub.i32 " a ", " a ", " b "\n\t"                                                             \
    "vmul.i32 " a ", " a ", " a "\n\t"
/* Squares are never negative. */
#define MG_SUM_MVE_AWAY(a, b) "vadd.i32 " a ", " a ", " b "\n\t"
#define MG_SUM_MVE_UPWARD(a, b) ""

/* Defines the function `symbol`, which computes `eights` times eight elements. `combined` and
 * `rounded` are two of the macros above. `scalars` are the zero point of the scaled operand,
 * shifted, that of the halved one, the output's multiplier, shift and offset, the operand's
 * multiplier and shift, the number of eights, and the bytes from eight values of an operand to the
 * next: 0 if it is broadcast. One quad is multiplied while the other is loaded. In assembly,
 * because GCC 12 orders the intrinsics otherwise, spends more instructions on addresses, and has
 * too few registers. */
#define MG_SCALED_SUM_MVE_EIGHTS(symbol, combined, rounded)                                        \
    MG_INLINE void symbol(const int32_t *scalars, const int32x4_t vectors[4],                      \
                          const int8_t *scaled, const int8_t *halved, int8_t *output)              \
    {                                                                                              \
        __asm__ volatile(                                                                          \
            "ldr lr, [%[scalars], #36]\n\t"                                                        \
            "dls lr, lr\n\t"                                                                       \
            "ldm %[scalars]!, {r4, r5, r6, r8, r9, r10, r11, r12}\n\t"                             \
            "ldr %[scalars], [%[scalars]]\n"                                                       \
            "1:\n\t"                                                                               \
            "vldrb.s32 q0, [%[scaled]]\n\t"                                                        \
            "vldrb.s32 q2, [%[scaled], #4]\n\t"                                                    \
            "vmlas.s32 q0, %q[units], r4\n\t"                                                      \
            "add %[scaled], %[scaled], r12\n\t"                                                    \
            "vmlas.s32 q2, %q[units], r4\n\t"                                                      \
            "vshr.s32 q1, q0, #31\n\t"                                                             \
            "vqrdmulh.s32 q0, q0, r10\n\t"                                                         \
            "vshr.s32 q3, q2, #31\n\t"                                                             \
            "vqrdmulh.s32 q2, q2, r10\n\t"                                                         \
            "vadd.i32 q0, q0, q1\n\t"                                                              \
            "vldrb.s32 q1, [%[halved]]\n\t"                                                        \
            "vadd.i32 q2, q2, q3\n\t"                                                              \
            "vldrb.s32 q3, [%[halved], #4]\n\t"                                                    \
            "vrshl.s32 q0, r11\n\t"                                                                \
            "vmlas.s32 q1, %q[halves], r5\n\t"                                                     \
            "vrshl.s32 q2, r11\n\t"                                                                \
            "vmlas.s32 q3, %q[halves], r5\n\t"                                                     \
            "add %[halved], %[halved], %[scalars]\n\t" combined(                                   \
                "q0",                                                                              \
                "q1") "vqrdmulh.s32 q0, q0, r6\n\t" combined("q2",                                 \
                                                             "q3") "vqrdmulh.s32 q2, q2, "         \
                                                                   "r6\n\t" rounded(               \
                                                                       "q0",                       \
                                                                       "q1") "vrshl."              \
                                                                             "s32 "                \
                                                                             "q0, "                \
                                                                             "r8\n"                \
                                                                             "\t" rounded(         \
                                                                                 "q2",             \
                                                                                 "q3") "vrshl."    \
                                                                                       "s32 q2, "  \
                                                                                       "r8\n\t"    \
                                                                                       "vadd.i32 " \
                                                                                       "q0, q0, "  \
                                                                                       "r9\n\t"    \
                                                                                       "vadd.i32 " \
                                                                                       "q2, q2, "  \
                                                                                       "r9\n\t"    \
                                                                                       "vmax.s32 " \
                                                                                       "q0, q0, "  \
                                                                                       "%q[low]"   \
                                                                                       "\n\t"      \
                                                                                       "vmax.s32 " \
                                                                                       "q2, q2, "  \
                                                                                       "%q[low]"   \
                                                                                       "\n\t"      \
                                                                                       "vmin.s32 " \
                                                                                       "q0, q0, "  \
                                                                                       "%q[high]"  \
                                                                                       "\n\t"      \
                                                                                       "vmin.s32 " \
                                                                                       "q2, q2, "  \
                                                                                       "%q[high]"  \
                                                                                       "\n\t"      \
                                                                                       "vstrb.32 " \
                                                                                       "q0, "      \
                                                                                       "[%["       \
                                                                                       "output]]," \
                                                                                       " #4\n\t"   \
                                                                                       "vstrb.32 " \
                                                                                       "q2, "      \
                                                                                       "[%["       \
                                                                                       "output]]," \
                                                                                       " #4\n\t"   \
                                                                                       "le lr, 1b" \
            : [scaled] "+l"(scaled), [halved] "+l"(halved), [output] "+l"(output),                 \
              [scalars] "+l"(scalars)                                                              \
            : [units] "w"(vectors[0]), [halves] "w"(vectors[1]), [low] "w"(vectors[2]),            \
              [high] "w"(vectors[3])                                                               \
            : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "q0", "q1", "q2", "q3",     \
              "memory");                                                                           \
    }
MG_SCALED_SUM_MVE_EIGHTS(mg_scaled_sum_mve_of_both, MG_SUM_MVE_OF_BOTH, MG_SUM_MVE_AWAY)
MG_SCALED_SUM_MVE_EIGHTS(mg_scaled_sum_mve_less_scaled, MG_SUM_MVE_LESS_SCALED, MG_SUM_MVE_AWAY)
MG_SCALED_SUM_MVE_EIGHTS(mg_scaled_sum_mve_less_halved, MG_SUM_MVE_LESS_HALVED, MG_SUM_MVE_AWAY)
MG_SCALED_SUM_MVE_EIGHTS(mg_scaled_sum_mve_squared, MG_SUM_MVE_SQUARED, MG_SUM_MVE_UPWARD)

/* One of these functions. */
MG_INLINE void mg_scaled_sum_mve_eights(const int32_t *scalars, const int32x4_t vectors[4],
                                        const int8_t *scaled, const int8_t *halved, int8_t *output,
                                        int32_t kind)
{
    if (kind == MG_SUM_OF_BOTH) {
        mg_scaled_sum_mve_of_both(scalars, vectors, scaled, halved, output);
    } else if (kind == MG_SUM_LESS_SCALED) {
        mg_scaled_sum_mve_less_scaled(scalars, vectors, scaled, halved, output);
    } else if (kind == MG_SUM_LESS_HALVED) {
        mg_scaled_sum_mve_less_halved(scalars, vectors, scaled, halved, output);
    } else {
        mg_scaled_sum_mve_squared(scalars, vectors, scaled, halved, output);
    }
}
#endif

/* Computes the elements of a row from the i-th on. A value that is broadcast is there
 * MG_SPLAT_MVE times. */
MG_INLINE void mg_scaled_sum_mve_rest(const mg_scaled_sum_rows_params *p, const int8_t *scaled,
                                      int32_t scaled_step, const int8_t *halved,
                                      int32_t halved_step, int8_t *output, int32_t kind, int32_t i)
{
    for (; i < p->size; i += 4) {
        const mve_pred16_t active = vctp32q((uint32_t)(p->size - i));
        const int32x4_t x = vldrbq_z_s32(&scaled[i * scaled_step], active);
        const int32x4_t y = vldrbq_z_s32(&halved[i * halved_step], active);
        vstrbq_p_s32(&output[i], mg_scaled_sum_mve_stored(p, x, y, kind), active);
    }
}

MG_INLINE void mg_scaled_sum_mve_any(const mg_scaled_sum_rows_params *p, const int8_t *lhs,
                                     const int8_t *rhs, int8_t *output, int32_t kind)
{
    MG_SCALED_SUM_OPERANDS(p, lhs, rhs);
    int8_t splat[MG_SPLAT_MVE];
#if defined(__OPTIMIZE__)
    const int32_t unit = (kind == MG_SUM_SQUARED) ? 1 << MG_SQUARE_SHIFTED : 1 << MG_SUM_SHIFTED;
    const int32_t scalars[10] = {
        p->scaled_offset * unit,
        p->halved_offset * (unit / 2),
        p->output_multiplier,
        p->output_shift,
        p->output_offset,
        p->multiplier,
        p->shift,
        8 * scaled_step,
        8 * halved_step,
        p->size >> 3,
    };
    const int32x4_t vectors[4] = {vdupq_n_s32(unit), vdupq_n_s32(unit / 2),
                                  vdupq_n_s32(p->activation_min), vdupq_n_s32(p->activation_max)};
#endif

    for (int32_t row = 0; row < p->rows; row++) {
        const int8_t *const x =
            mg_splat_mve(&scaled[row * scaled_row], scaled_step, p->size, splat);
        const int8_t *const y =
            mg_splat_mve(&halved[row * halved_row], halved_step, p->size, splat);
        int8_t *const to = &output[row * p->size];
        int32_t done = 0;
#if defined(__OPTIMIZE__)
        if (p->size >= 8) {
            mg_scaled_sum_mve_eights(scalars, vectors, x, y, to, kind);
            done = p->size & ~7;
        }
#endif
        mg_scaled_sum_mve_rest(p, x, scaled_step, y, halved_step, to, kind, done);
    }
}

MG_SCALED_SUM_BODY(mg_add_s8_mve, mg_scaled_sum_mve_any, MG_SUM_OF_BOTH)
MG_SCALED_SUM_BODY(mg_subtract_s8_mve, mg_scaled_sum_mve_any,
                   (p->scales_rhs != 0) ? MG_SUM_LESS_SCALED : MG_SUM_LESS_HALVED)
MG_SCALED_SUM_BODY(mg_squared_difference_s8_mve, mg_scaled_sum_mve_any, MG_SUM_SQUARED)

#ifdef MG_SCALED_SUM_ROWS_S8_MVE_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_BINARY(mg_add_s8_mve, int8_t, int8_t)
MG_DEFINE_BINARY(mg_subtract_s8_mve, int8_t, int8_t)
MG_DEFINE_BINARY(mg_squared_difference_s8_mve, int8_t, int8_t)
#endif

#endif

#endif
