/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels for the M-profile vector extension (Armv8.1-M MVE, "Helium") share.
 *
 * Requantization equals microgen/requantization/requantize.h bit for bit: VQRDMULH rounds ties
 * upwards, like mg_multiply_high. VRSHL rounds ties upwards, too, so 1 is subtracted from negative
 * values first. Then ties go away from zero, as in mg_divide_by_power_of_two. */
#ifndef MICROGEN_MVE_H
#define MICROGEN_MVE_H

#include <stddef.h>

#include "microgen/requantization/requantize.h"

#if defined(__ARM_FEATURE_MVE)

#include <arm_mve.h>

#define MG_MVE_ROWS 4   /* dot products that are computed at a time */
#define MG_MVE_BYTES 16 /* of a vector */

/* Keeps the compiler from moving loads across this point, because it would run out of registers. */
MG_INLINE void mg_mve_keep_order(void)
{
    __asm__ volatile("" ::: "memory");
}

/* Four accumulators in the lanes of a vector. */
MG_INLINE int32x4_t mg_mve_lanes(int32_t a, int32_t b, int32_t c, int32_t d)
{
    int32x4_t lanes = vdupq_n_s32(a);
    lanes = vsetq_lane_s32(b, lanes, 1);
    lanes = vsetq_lane_s32(c, lanes, 2);
    return vsetq_lane_s32(d, lanes, 3);
}

/* Subtracts 1 from negative lanes that will be shifted to the right (right < 0). */
MG_INLINE int32x4_t mg_mve_ties_away(int32x4_t x, int32x4_t right)
{
    return vqaddq_s32(x, vshrq_n_s32(vandq_s32(x, right), 31));
}

/* mg_requantize of every lane, with a scale for each. */
MG_INLINE int32x4_t mg_mve_requantize(int32x4_t x, int32x4_t multiplier, int32x4_t shift)
{
    const int32x4_t zero = vdupq_n_s32(0);
    const int32x4_t right = vminq_s32(shift, zero);
    const int32x4_t high = vqrdmulhq_s32(vshlq_s32(x, vmaxq_s32(shift, zero)), multiplier);
    return vrshlq_s32(mg_mve_ties_away(high, right), right);
}

/* mg_requantize of every lane, with one scale for all. */
MG_INLINE int32x4_t mg_mve_requantize_n(int32x4_t x, int32_t multiplier, int32_t shift)
{
    if (shift > 0) {
        return vqrdmulhq_n_s32(vshlq_r_s32(x, shift), multiplier);
    }
    const int32x4_t high = vqrdmulhq_n_s32(x, multiplier);
    return vrshlq_n_s32(mg_mve_ties_away(high, vdupq_n_s32(shift)), shift);
}

/* mg_offset_and_clamp of every lane, as int32. */
MG_INLINE int32x4_t mg_mve_offset_and_clamp(int32x4_t x, int32_t offset, int32_t low, int32_t high)
{
    const int32x4_t stored = vaddq_n_s32(x, offset);
    return vminq_s32(vmaxq_s32(stored, vdupq_n_s32(low)), vdupq_n_s32(high));
}

/* Copies `count` bytes and returns the end of the copy. The buffers must not overlap. In assembly,
 * because GCC 12 does not form tail-predicated loops. */
MG_INLINE int8_t *mg_mve_copy(int8_t *to, const int8_t *from, int32_t count)
{
    int8_t *at = to;

    __asm__ volatile("wlstp.8 lr, %[count], 2f\n"
                     "1:\n\t"
                     "vldrb.8 q0, [%[from]], #16\n\t"
                     "vstrb.8 q0, [%[at]], #16\n\t"
                     "letp lr, 1b\n"
                     "2:"
                     : [at] "+r"(at), [from] "+r"(from)
                     : [count] "r"(count)
                     : "lr", "q0", "memory");
    return to + count;
}

/* Stores `value` `count` times and returns the end. */
MG_INLINE int8_t *mg_mve_fill(int8_t *to, int32_t value, int32_t count)
{
    const int8x16_t values = vdupq_n_s8((int8_t)value);
    int8_t *at = to;

    __asm__ volatile("wlstp.8 lr, %[count], 2f\n"
                     "1:\n\t"
                     "vstrb.8 %q[values], [%[at]], #16\n\t"
                     "letp lr, 1b\n"
                     "2:"
                     : [at] "+r"(at)
                     : [count] "r"((count > 0) ? count : 0), [values] "w"(values)
                     : "lr", "memory");
    return to + (count > 0 ? count : 0);
}

/* The products of one row of values with four others, and the sum of its values. */
typedef struct {
    int32_t a;
    int32_t b;
    int32_t c;
    int32_t d;
    int32_t values;
} mg_mve_dots;

MG_INLINE mg_mve_dots mg_mve_dots_of(const int8_t *values, const int8_t *const row[MG_MVE_ROWS],
                                     int32_t depth)
{
    const int8_t *v = values;
    const int8_t *a = row[0];
    const int8_t *b = row[1];
    const int8_t *c = row[2];
    const int8_t *d = row[3];
    mg_mve_dots dots = {0, 0, 0, 0, 0};
#if defined(__OPTIMIZE__)
    /* A tail-predicated loop in assembly, because GCC 12 does not form one from intrinsics and
     * spills registers instead. */
    __asm__("dlstp.8 lr, %[depth]\n"
            "1:\n\t"
            "vldrb.8 q0, [%[v]], #16\n\t"
            "vldrb.8 q1, [%[a]], #16\n\t"
            "vaddva.s8 %[values], q0\n\t"
            "vmladava.s8 %[sum_a], q0, q1\n\t"
            "vldrb.8 q2, [%[b]], #16\n\t"
            "vmladava.s8 %[sum_b], q0, q2\n\t"
            "vldrb.8 q1, [%[c]], #16\n\t"
            "vmladava.s8 %[sum_c], q0, q1\n\t"
            "vldrb.8 q2, [%[d]], #16\n\t"
            "vmladava.s8 %[sum_d], q0, q2\n\t"
            "letp lr, 1b"
            : [v] "+r"(v), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d),
              [values] "+Te"(dots.values), [sum_a] "+Te"(dots.a), [sum_b] "+Te"(dots.b),
              [sum_c] "+Te"(dots.c), [sum_d] "+Te"(dots.d)
            : [depth] "r"(depth)
            : "lr", "q0", "q1", "q2", "memory");
#else
    /* In C, because without optimisation the assembly would need too many registers. */
    for (int32_t k = 0; k < depth; k++) {
        dots.values += v[k];
        dots.a += v[k] * a[k];
        dots.b += v[k] * b[k];
        dots.c += v[k] * c[k];
        dots.d += v[k] * d[k];
    }
#endif
    return dots;
}

/* What the pixels of a convolution share. */
typedef struct {
    int32_t depth; /* bytes of a row, and products per output */
    int32_t channels;
    int32_t input_offset;
    int32_t output_offset;
    int32_t activation_min;
    int32_t activation_max;
} mg_mve_layer;

/* Its initializer for a convolution with the parameters p. */
#define MG_MVE_LAYER_OF(p, depth)                                                                  \
    {                                                                                              \
        (depth), (p)->output_channels, (p)->input_offset, (p)->output_offset, (p)->activation_min, \
            (p)->activation_max                                                                    \
    }

/* Computes all output channels of up to four pixels. `row` points to each pixel's inputs, in the
 * order of the weights [channels][depth]. The first `count` pixels, 1 to 4, are stored as output
 * [count][channels]. All four rows are read, so they must all be valid. */
MG_INLINE void mg_mve_pixels(const mg_mve_layer *p, const int8_t *const row[MG_MVE_ROWS],
                             int32_t count, const int8_t *weight, const int32_t *bias,
                             const int32_t *multiplier, const int8_t *shift, int8_t *output)
{
    const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)p->channels);
    const mve_pred16_t stored = vctp32q((uint32_t)count);

    for (int32_t c = 0; c < p->channels; c++) {
        const mg_mve_dots dots = mg_mve_dots_of(&weight[c * p->depth], row, p->depth);
        const int32_t start = p->input_offset * dots.values + ((bias != NULL) ? bias[c] : 0);
        const int32x4_t sums = vaddq_n_s32(mg_mve_lanes(dots.a, dots.b, dots.c, dots.d), start);
        const int32x4_t scaled = mg_mve_requantize_n(sums, multiplier[c], shift[c]);
        const int32x4_t result =
            mg_mve_offset_and_clamp(scaled, p->output_offset, p->activation_min, p->activation_max);
        vstrbq_scatter_offset_p_s32(output + c, places, result, stored);
    }
}

#endif

#endif
