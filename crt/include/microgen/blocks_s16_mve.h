/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products of int16 values with int8 weights in int32, for MVE, and their scaling as in
 * microgen/blocks_s16.h. Whoever calls must have proved that no sum of products exceeds int32. */
#ifndef MICROGEN_BLOCKS_S16_MVE_H
#define MICROGEN_BLOCKS_S16_MVE_H

#include <stdint.h>

#include "microgen/blocks_s16.h"
#include "microgen/inline.h"
#include "microgen/mve.h"

#if defined(__ARM_FEATURE_MVE)

/* The nearest values in the activation's range. */
MG_INLINE int32x4_t mg_mve_clamp_s16(int32x4_t x, int32_t least, int32_t most)
{
    return vminq_s32(vmaxq_s32(x, vdupq_n_s32(least)), vdupq_n_s32(most));
}

/* The sums of products of the same `depth` int8 weights with four rows of int16 values. */
MG_INLINE int32x4_t mg_mve_dot_rows_s16(const int16_t *const row[MG_MVE_ROWS],
                                        const int8_t *weights, int32_t depth)
{
    const int8_t *w = weights;
    const int16_t *a = row[0];
    const int16_t *b = row[1];
    const int16_t *c = row[2];
    const int16_t *d = row[3];
    int32_t sum_a = 0;
    int32_t sum_b = 0;
    int32_t sum_c = 0;
    int32_t sum_d = 0;
#if defined(__OPTIMIZE__)
    /* In assembly as in microgen/mve.h, and for the same reason. The address of a load that widens
     * must be in r0 to r7. */
    __asm__("dlstp.16 lr, %[depth]\n"
            "1:\n\t"
            "vldrb.s16 q0, [%[w]], #8\n\t"
            "vldrh.16 q1, [%[a]], #16\n\t"
            "vmladava.s16 %[sum_a], q0, q1\n\t"
            "vldrh.16 q2, [%[b]], #16\n\t"
            "vmladava.s16 %[sum_b], q0, q2\n\t"
            "vldrh.16 q1, [%[c]], #16\n\t"
            "vmladava.s16 %[sum_c], q0, q1\n\t"
            "vldrh.16 q2, [%[d]], #16\n\t"
            "vmladava.s16 %[sum_d], q0, q2\n\t"
            "letp lr, 1b"
            : [w] "+l"(w), [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [sum_a] "+Te"(sum_a),
              [sum_b] "+Te"(sum_b), [sum_c] "+Te"(sum_c), [sum_d] "+Te"(sum_d)
            : [depth] "r"(depth)
            : "lr", "q0", "q1", "q2", "memory");
#else
    for (int32_t k = 0; k < depth; k++) {
        sum_a += w[k] * a[k];
        sum_b += w[k] * b[k];
        sum_c += w[k] * c[k];
        sum_d += w[k] * d[k];
    }
#endif
    return mg_mve_lanes(sum_a, sum_b, sum_c, sum_d);
}

/* The sums of products of the same `depth` int16 values with four filters of int8 weights. */
MG_INLINE int32x4_t mg_mve_dot_filters_s16(const int16_t *values,
                                           const int8_t *const filter[MG_MVE_ROWS], int32_t depth)
{
    const int16_t *x = values;
    const int8_t *a = filter[0];
    const int8_t *b = filter[1];
    const int8_t *c = filter[2];
    const int8_t *d = filter[3];
    int32_t sum_a = 0;
    int32_t sum_b = 0;
    int32_t sum_c = 0;
    int32_t sum_d = 0;
#if defined(__OPTIMIZE__)
    __asm__("dlstp.16 lr, %[depth]\n"
            "1:\n\t"
            "vldrh.16 q0, [%[x]], #16\n\t"
            "vldrb.s16 q1, [%[a]], #8\n\t"
            "vmladava.s16 %[sum_a], q0, q1\n\t"
            "vldrb.s16 q2, [%[b]], #8\n\t"
            "vmladava.s16 %[sum_b], q0, q2\n\t"
            "vldrb.s16 q1, [%[c]], #8\n\t"
            "vmladava.s16 %[sum_c], q0, q1\n\t"
            "vldrb.s16 q2, [%[d]], #8\n\t"
            "vmladava.s16 %[sum_d], q0, q2\n\t"
            "letp lr, 1b"
            : [x] "+r"(x), [a] "+l"(a), [b] "+l"(b), [c] "+l"(c), [d] "+l"(d), [sum_a] "+Te"(sum_a),
              [sum_b] "+Te"(sum_b), [sum_c] "+Te"(sum_c), [sum_d] "+Te"(sum_d)
            : [depth] "r"(depth)
            : "lr", "q0", "q1", "q2", "memory");
#else
    for (int32_t k = 0; k < depth; k++) {
        sum_a += x[k] * a[k];
        sum_b += x[k] * b[k];
        sum_c += x[k] * c[k];
        sum_d += x[k] * d[k];
    }
#endif
    return mg_mve_lanes(sum_a, sum_b, sum_c, sum_d);
}

/* Computes all channels of up to four pixels. `row` points to each pixel's values, in the order of
 * the weights [channels][depth]. The first `count` pixels, 1 to 4, are stored as output
 * [count][channels]. All four rows are read, so they must all be valid. */
MG_INLINE void mg_mve_pixels_s16(const mg_folded_s16 *folded, const int16_t *const row[MG_MVE_ROWS],
                                 int32_t count, const int8_t *weight, int32_t channels,
                                 int32_t depth, int16_t *output)
{
    const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)(2 * channels));
    const mve_pred16_t stored = vctp32q((uint32_t)count);

    for (int32_t c = 0; c < channels; c++) {
        const int32x4_t sums = mg_mve_dot_rows_s16(row, &weight[c * depth], depth);
        const int32x4_t scaled =
            vrmulhq_s32(vaddq_n_s32(sums, folded->bias[c]), vdupq_n_s32(folded->factor[c]));
        vstrhq_scatter_offset_p_s32(
            output + c, places,
            mg_mve_clamp_s16(scaled, folded->activation_min, folded->activation_max), stored);
    }
}

#endif

#endif
