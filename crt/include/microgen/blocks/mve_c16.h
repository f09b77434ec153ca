/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen channels of a depthwise convolution for MVE, one in each lane.
 *
 * VMULLB and VMULLT multiply the even and the odd channels. Weights are at least -127, so the sum
 * of the products of two taps is at most 32,512 in magnitude: it fits int16, and only these sums
 * are widened. That leaves channels 0, 4, 8 and 12 in the first vector of sums, and so on, as VLD4
 * loads the tables. Two narrowing steps restore the order.
 *
 * Sums contain products with the data's zero point, see mve_rows.h. A result is at most 2^30 in
 * magnitude before it is narrowed to int16, the offset is added, and it is narrowed to int8; all
 * three saturate, and the clamp is inside int8, so saturation changes no output. */
#ifndef MICROGEN_MVE_C16_H
#define MICROGEN_MVE_C16_H

#include <stddef.h>

#include "microgen/blocks/mve_rows.h"
#include "microgen/requantization/scaling_s8.h"

#if defined(__ARM_FEATURE_MVE)

/* Sixteen channels of `count` pixels, in the order in which the assembly loads it. The window of a
 * pixel is `runs` runs of `taps` values, `tap_step` bytes apart. The others are `pixel_step` and
 * `output_step` bytes apart. */
typedef struct {
    const int32_t *bias;
    const int8_t *weight; /* [runs][taps][16] */
    int32_t runs;
    const int32_t *multiplier;
    const int8_t *shift;
    int32_t offset;
    int32_t is_upward;  /* 1 if it does not matter how ties of negative values are rounded */
    int32_t is_clamped; /* 1 if not all values of int8 are outputs */
    int32_t pixel_step;
    int32_t output_step;
    int32_t tap_step;
    const int8_t *input;
    int32_t taps;
    int32_t gap; /* bytes from an even number of taps on to the next run */
    int32_t count;
    int8_t *output;
    int8x16_t low;
    int8x16_t high;
} mg_mve_c16;

#if defined(__OPTIMIZE__)

/* clang-format off */

/* Adds the products of one tap or two, in q6 and q7, to the sums. */
#define MG_MVE_C16_ADD                                                                         \
    "vmovlb.s16 q4, q6\n"                                                                          \
    "vmovlt.s16 q5, q6\n"                                                                          \
    "vadd.i32 q0, q0, q4\n"                                                                        \
    "vmovlb.s16 q4, q7\n"                                                                          \
    "vadd.i32 q2, q2, q5\n"                                                                        \
    "vmovlt.s16 q5, q7\n"                                                                          \
    "vadd.i32 q1, q1, q4\n"                                                                        \
    "vadd.i32 q3, q3, q5\n"

/* The products of two taps. There is no ninth register, so the values of the second one are loaded
 * twice. */
#define MG_MVE_C16_PAIR                                                                        \
    "vldrb.8 q4, [r0]\n"                                                                           \
    "add r0, r0, r1\n"                                                                             \
    "vldrb.8 q5, [r2], #32\n"                                                                      \
    "vmullb.s8 q6, q4, q5\n"                                                                       \
    "vmullt.s8 q7, q4, q5\n"                                                                       \
    "vldrb.8 q5, [r2, #-16]\n"                                                                     \
    "vldrb.8 q4, [r0]\n"                                                                           \
    "vmullb.s8 q4, q4, q5\n"                                                                       \
    "vadd.i16 q6, q6, q4\n"                                                                        \
    "vldrb.8 q4, [r0]\n"                                                                           \
    "add r0, r0, r1\n"                                                                             \
    "vmullt.s8 q4, q4, q5\n"                                                                       \
    "vadd.i16 q7, q7, q4\n"                                                                        \
    MG_MVE_C16_ADD

#define MG_MVE_C16_LAST                                                                        \
    "vldrb.8 q4, [r0]\n"                                                                           \
    "vldrb.8 q5, [r2], #16\n"                                                                      \
    "vmullb.s8 q6, q4, q5\n"                                                                       \
    "vmullt.s8 q7, q4, q5\n"                                                                       \
    MG_MVE_C16_ADD

#define MG_MVE_C16_TIES(x) "vshr.s32 q4, " x ", #31\nvadd.i32 " x ", " x ", q4\n"

/* The multipliers of four times four channels. */
#define MG_MVE_C16_FACTORS                                                                     \
    "vld40.32 {q4, q5, q6, q7}, [r0]\n"                                                            \
    "vld41.32 {q4, q5, q6, q7}, [r0]\n"                                                            \
    "vld42.32 {q4, q5, q6, q7}, [r0]\n"                                                            \
    "vld43.32 {q4, q5, q6, q7}, [r0]\n"

/* Makes outputs of scaled sums. */
#define MG_MVE_C16_NARROW                                                                      \
    "vqmovnb.s32 q1, q1\n"                                                                         \
    "vqmovnt.s32 q0, q2\n"                                                                         \
    "vqmovnt.s32 q1, q3\n"                                                                         \
    "vqadd.s16 q0, q0, r3\n"                                                                       \
    "vqadd.s16 q1, q1, r3\n"                                                                       \
    "vqmovnb.s16 q0, q0\n"                                                                         \
    "vqmovnt.s16 q0, q1\n"

/* Makes outputs of the sums. VRSHL takes its shift from the lowest byte of a lane. */
#define MG_MVE_C16_TWICE                                                                       \
    MG_MVE_C16_FACTORS                                                                         \
    "vqrdmulh.s32 q0, q0, q4\n"                                                                    \
    "vqrdmulh.s32 q1, q1, q5\n"                                                                    \
    "vldrb.8 q5, [r2]\n"                                                                           \
    "vqrdmulh.s32 q2, q2, q6\n"                                                                    \
    "vmvn q5, q5\n"                                                                                \
    "vqrdmulh.s32 q3, q3, q7\n"                                                                    \
    "cbnz r5, 5f\n"                                                                                \
    MG_MVE_C16_TIES("q0") MG_MVE_C16_TIES("q1")                                            \
    MG_MVE_C16_TIES("q2") MG_MVE_C16_TIES("q3")                                            \
    "5:\n"                                                                                         \
    "vrshl.s32 q0, q0, q5\n"                                                                       \
    "vshr.u32 q6, q5, #8\n"                                                                        \
    "vshr.u32 q7, q5, #16\n"                                                                       \
    "vrshl.s32 q1, q1, q6\n"                                                                       \
    "vshr.u32 q5, q5, #24\n"                                                                       \
    "vrshl.s32 q2, q2, q7\n"                                                                       \
    "vqmovnb.s32 q0, q0\n"                                                                         \
    "vrshl.s32 q3, q3, q5\n"                                                                       \
    MG_MVE_C16_NARROW

/* The same by MG_ROUND_FLOAT_FPU. */
#define MG_MVE_C16_FLOAT                                                                       \
    MG_MVE_C16_FACTORS                                                                         \
    "vcvt.f32.s32 q0, q0\n"                                                                        \
    "vcvt.f32.s32 q1, q1\n"                                                                        \
    "vmul.f32 q0, q0, q4\n"                                                                        \
    "vcvt.f32.s32 q2, q2\n"                                                                        \
    "vmul.f32 q1, q1, q5\n"                                                                        \
    "vcvt.f32.s32 q3, q3\n"                                                                        \
    "vmul.f32 q2, q2, q6\n"                                                                        \
    "vcvtn.s32.f32 q0, q0\n"                                                                       \
    "vmul.f32 q3, q3, q7\n"                                                                        \
    "vcvtn.s32.f32 q1, q1\n"                                                                       \
    "vcvtn.s32.f32 q2, q2\n"                                                                       \
    "vqmovnb.s32 q0, q0\n"                                                                         \
    "vcvtn.s32.f32 q3, q3\n"                                                                       \
    MG_MVE_C16_NARROW
/* clang-format on */

/* In assembly, because GCC 12 spills registers. The loop over taps keeps the carry: an odd tap is
 * left. */
#define MG_MVE_C16_PIXELS(of, scale)                                                               \
    __asm__ volatile(                                                                              \
        "add r0, %[of], %[tap_step]\n"                                                             \
        "ldm r0, {r1, r4, r8, r9, r10, r11}\n"                                                     \
        "1:\n"                                                                                     \
        "ldm %[of], {r0, r2, r3}\n"                                                                \
        "vld40.32 {q0, q1, q2, q3}, [r0]\n"                                                        \
        "vld41.32 {q0, q1, q2, q3}, [r0]\n"                                                        \
        "vld42.32 {q0, q1, q2, q3}, [r0]\n"                                                        \
        "vld43.32 {q0, q1, q2, q3}, [r0]\n"                                                        \
        "mov r0, r4\n"                                                                             \
        "2:\n"                                                                                     \
        "lsrs r5, r8, #1\n"                                                                        \
        "wls lr, r5, 4f\n"                                                                         \
        "3:\n" MG_MVE_C16_PAIR "le lr, 3b\n"                                                       \
        "4:\n"                                                                                     \
        "bcc 4f\n" MG_MVE_C16_LAST "4:\n"                                                          \
        "add r0, r0, r9\n"                                                                         \
        "subs r3, r3, #1\n"                                                                        \
        "bne 2b\n"                                                                                 \
        "add r0, %[of], %[multiplier]\n"                                                           \
        "ldm r0, {r0, r2, r3, r5, r6}\n" scale "cbz r6, 6f\n"                                      \
        "vldrw.32 q1, [%[of], %[low]]\n"                                                           \
        "vldrw.32 q2, [%[of], %[high]]\n"                                                          \
        "vmax.s8 q0, q0, q1\n"                                                                     \
        "vmin.s8 q0, q0, q2\n"                                                                     \
        "6:\n"                                                                                     \
        "ldrd r5, r6, [%[of], %[pixel_step]]\n"                                                    \
        "vstrb.8 q0, [r11]\n"                                                                      \
        "add r4, r4, r5\n"                                                                         \
        "add r11, r11, r6\n"                                                                       \
        "subs r10, r10, #1\n"                                                                      \
        "bne 1b"                                                                                   \
        :                                                                                          \
        : [of] "r"(of), [tap_step] "i"(offsetof(mg_mve_c16, tap_step)),                            \
          [multiplier] "i"(offsetof(mg_mve_c16, multiplier)),                                      \
          [pixel_step] "i"(offsetof(mg_mve_c16, pixel_step)),                                      \
          [low] "i"(offsetof(mg_mve_c16, low)), [high] "i"(offsetof(mg_mve_c16, high))             \
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "lr", "q0", "q1",    \
          "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory")

MG_INLINE void mg_mve_c16_pixels(const mg_mve_c16 *of, int requantization)
{
#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        MG_MVE_C16_PIXELS(of, MG_MVE_C16_FLOAT);
        return;
    }
#endif
    (void)requantization;
    MG_MVE_C16_PIXELS(of, MG_MVE_C16_TWICE);
}

#else

/* Without optimisation the assembly would need too many registers. */
MG_INLINE int32_t mg_mve_c16_sum(const mg_mve_c16 *of, const int8_t *input, int32_t c)
{
    const int32_t run_step = of->gap + (of->taps & -2) * of->tap_step;
    int32_t sum = of->bias[c];

    for (int32_t i = 0; i < of->runs; i++) {
        for (int32_t k = 0; k < of->taps; k++) {
            sum += input[i * run_step + k * of->tap_step + c] *
                   of->weight[(i * of->taps + k) * MG_MVE_BYTES + c];
        }
    }
    return sum;
}

MG_INLINE void mg_mve_c16_pixels(const mg_mve_c16 *of, int requantization)
{
    const mg_scaling scaling = {of->multiplier, of->shift, of->offset, vgetq_lane_s8(of->low, 0),
                                vgetq_lane_s8(of->high, 0)};

    for (int32_t i = 0; i < of->count; i++) {
        for (int32_t c = 0; c < MG_MVE_BYTES; c++) {
            const int32_t sum = mg_mve_c16_sum(of, of->input + i * of->pixel_step, c);
            of->output[i * of->output_step + c] = mg_scaled(&scaling, c, sum, requantization);
        }
    }
}

#endif

#endif

#endif
