/* SPDX-License-Identifier: Apache-2.0 */
/* Products of rows of inputs with rows of weights, for MVE: what the kernels have in common that
 * sum raw products, see is_raw of microgen/kernels/requantization/recipe.py. Zero points are in
 * the bias.
 *
 * Sums are below 2^30 in magnitude, and scales below 1/2, as MG_ROUND_TWICE_NARROW requires. */
#ifndef MICROGEN_MVE_ROWS_H
#define MICROGEN_MVE_ROWS_H

#include "microgen/blocks/mve.h"

#if defined(__ARM_FEATURE_MVE)

#define MG_MVE_FILTERS 4 /* that are computed at a time, one in each lane */

/* A layer. `shift` has the rounding shifts of MG_ROUND_TWICE_NARROW. With MG_ROUND_FLOAT_FPU it is
 * not read, and multipliers are scales. */
typedef struct {
    const int8_t *weight;
    const int32_t *bias;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t channels;
    int32_t output_offset;
    int32_t activation_min;
    int32_t activation_max;
} mg_mve_rows;

/* Its initializer for a convolution with the parameters p. */
#define MG_MVE_ROWS_OF(p, weight, bias, multiplier, shift)                                         \
    {                                                                                              \
        (weight), (bias), (multiplier), (shift), (p)->output_channels, (p)->output_offset,         \
            (p)->activation_min, (p)->activation_max                                               \
    }

/* Lanes 0 to 3. The moves are of two lanes each, which GCC 12 does not make of intrinsics. */
MG_INLINE int32x4_t mg_mve_four(int32_t a, int32_t b, int32_t c, int32_t d)
{
#if defined(__OPTIMIZE__)
    int32x4_t lanes;
    __asm__("vmov %q0[2], %q0[0], %1, %3\n\tvmov %q0[3], %q0[1], %2, %4"
            : "=&w"(lanes)
            : "r"(a), "r"(b), "r"(c), "r"(d));
    return lanes;
#else
    return mg_mve_lanes(a, b, c, d);
#endif
}

/* Subtracts 1 from negative values, so that rounding them upwards rounds ties away from zero. */
MG_INLINE int32x4_t mg_mve_ties_down(int32x4_t x)
{
    return vaddq_s32(x, vshrq_n_s32(x, 31));
}

#if (__ARM_FEATURE_MVE & 2) != 0
#define MG_MVE_HAS_FLOATS

/* MG_ROUND_FLOAT_FPU of every lane, with scales that are the bits of floats. */
MG_INLINE int32x4_t mg_mve_scaled_in_float(int32x4_t x, int32x4_t scales)
{
    return vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(x), vreinterpretq_f32_s32(scales)));
}

/* Calls a function, or the one whose name also has _float, by the requantization, a constant. */
#define MG_MVE_EITHER(function, requantization, ...)                                               \
    do {                                                                                           \
        if ((requantization) == MG_ROUND_FLOAT_FPU) {                                              \
            function##_float(__VA_ARGS__);                                                         \
        } else {                                                                                   \
            function(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

#else

#define MG_MVE_EITHER(function, requantization, ...)                                               \
    do {                                                                                           \
        (void)(requantization);                                                                    \
        function(__VA_ARGS__);                                                                     \
    } while (0)

#endif

/* Four filters and one row of inputs, in the order in which the assembly loads them. */
typedef struct {
    const int8_t *filter[MG_MVE_FILTERS];
    const int8_t *input;
    int32_t depth;
} mg_mve_four_filters;

/* The sums of four filters for one row of inputs. */
MG_INLINE int32x4_t mg_mve_dot_four(const mg_mve_four_filters *of)
{
#if defined(__OPTIMIZE__)
    int32x4_t lanes;
    __asm__ volatile("ldm %[of], {r1, r3, r5, r8, r9}\n\t"
                     "ldr lr, [%[of], %[depth]]\n\t"
                     "movs r0, #0\n\tmovs r2, #0\n\tmovs r4, #0\n\tmovs r6, #0\n\t"
                     "dlstp.8 lr, lr\n"
                     "1:\n\t"
                     "vldrb.8 q0, [r9], #16\n\t"
                     "vldrb.8 q1, [r1], #16\n\t"
                     "vldrb.8 q2, [r3], #16\n\t"
                     "vmladava.s8 r0, q0, q1\n\t"
                     "vldrb.8 q1, [r5], #16\n\t"
                     "vmladava.s8 r2, q0, q2\n\t"
                     "vldrb.8 q2, [r8], #16\n\t"
                     "vmladava.s8 r4, q0, q1\n\t"
                     "vmladava.s8 r6, q0, q2\n\t"
                     "letp lr, 1b\n\t"
                     "vmov %q[lanes][2], %q[lanes][0], r0, r4\n\t"
                     "vmov %q[lanes][3], %q[lanes][1], r2, r6"
                     : [lanes] "=&w"(lanes)
                     : [of] "r"(of), [depth] "i"(offsetof(mg_mve_four_filters, depth))
                     : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "lr", "q0", "q1", "q2",
                       "cc", "memory");
    return lanes;
#else
    int32_t sum[MG_MVE_FILTERS] = {0, 0, 0, 0};
    for (int32_t k = 0; k < of->depth; k++) {
        for (int32_t c = 0; c < MG_MVE_FILTERS; c++) {
            sum[c] += of->filter[c][k] * of->input[k];
        }
    }
    return vldrwq_s32(sum);
#endif
}

#endif

#endif
