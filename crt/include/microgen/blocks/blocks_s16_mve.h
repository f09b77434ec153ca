/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products of int16 values with int8 weights in int32, for MVE, and their scaling as in
 * microgen/blocks/blocks_s16.h. Whoever calls must have proved that no sum of products and bias
 * exceeds int32.
 *
 * A sum in a register of the core takes a whole vector of products in one instruction, and there
 * are seven such registers. So a convolution computes two channels of three pixels at a time, with
 * five loads for six products of vectors; one channel of four pixels would have five for four. */
#ifndef MICROGEN_BLOCKS_S16_MVE_H
#define MICROGEN_BLOCKS_S16_MVE_H

#include "microgen/blocks/blocks_s16.h"
#include "microgen/blocks/mve.h"
#include "microgen/blocks/sums_s16.h"

#if defined(__ARM_FEATURE_MVE)

/* The nearest values in the activation's range. */
MG_INLINE int32x4_t mg_mve_clamp_s16(int32x4_t x, int32_t least, int32_t most)
{
    return vminq_s32(vmaxq_s32(x, vdupq_n_s32(least)), vdupq_n_s32(most));
}

enum {
    MG_MVE_PIXELS_S16 = 3 /* that are computed at a time */
};

/* The sums of channels a and b of three pixels, p, q and r. */
typedef struct {
    int32_t pa;
    int32_t pb;
    int32_t qa;
    int32_t qb;
    int32_t ra;
    int32_t rb;
} mg_sums_3x2_s16;

/* Adds the products of the `depth` values from p, q and r on with the filters a and b. */
#if defined(__OPTIMIZE__)
/* In assembly as in microgen/blocks/mve.h, and for the same reason. The address of a load that
 * widens must be in r0 to r7. With `depth` in lr, the compiler finds registers for all others. */
MG_INLINE mg_sums_3x2_s16 mg_mve_dot_3x2_s16(mg_sums_3x2_s16 sums, const int16_t *p,
                                             const int16_t *q, const int16_t *r, const int8_t *a,
                                             const int8_t *b, int32_t depth)
{
    register int32_t left __asm__("lr") = depth;

    __asm__("dlstp.16 lr, %[left]\n"
            "1:\n\t"
            "vldrb.s16 q0, [%[a]], #8\n\t"
            "vldrh.16 q1, [%[p]], #16\n\t"
            "vmladava.s16 %[pa], q0, q1\n\t"
            "vldrb.s16 q2, [%[b]], #8\n\t"
            "vmladava.s16 %[pb], q2, q1\n\t"
            "vldrh.16 q3, [%[q]], #16\n\t"
            "vmladava.s16 %[qa], q0, q3\n\t"
            "vldrh.16 q1, [%[r]], #16\n\t"
            "vmladava.s16 %[qb], q2, q3\n\t"
            "vmladava.s16 %[ra], q0, q1\n\t"
            "vmladava.s16 %[rb], q2, q1\n\t"
            "letp lr, 1b"
            : [p] "+r"(p), [q] "+r"(q), [r] "+r"(r), [a] "+l"(a), [b] "+l"(b), [pa] "+Te"(sums.pa),
              [pb] "+Te"(sums.pb), [qa] "+Te"(sums.qa), [qb] "+Te"(sums.qb), [ra] "+Te"(sums.ra),
              [rb] "+Te"(sums.rb), [left] "+r"(left)
            :
            : "q0", "q1", "q2", "q3", "memory");
    return sums;
}
#else
MG_INLINE mg_sums_3x2_s16 mg_mve_dot_3x2_s16(mg_sums_3x2_s16 sums, const int16_t *p,
                                             const int16_t *q, const int16_t *r, const int8_t *a,
                                             const int8_t *b, int32_t depth)
{
    sums.pa += mg_few_s16(p, a, depth);
    sums.pb += mg_few_s16(p, b, depth);
    sums.qa += mg_few_s16(q, a, depth);
    sums.qb += mg_few_s16(q, b, depth);
    sums.ra += mg_few_s16(r, a, depth);
    sums.rb += mg_few_s16(r, b, depth);
    return sums;
}
#endif

/* Adds the products of the same `depth` int16 values with four filters. */
#if defined(__OPTIMIZE__)
MG_INLINE mg_sums_1x4_s16 mg_mve_dot_1x4_s16(mg_sums_1x4_s16 sums, const int16_t *x,
                                             const int8_t *a, const int8_t *b, const int8_t *c,
                                             const int8_t *d, int32_t depth)
{
    __asm__(
        "dlstp.16 lr, %[depth]\n"
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
        : [x] "+r"(x), [a] "+l"(a), [b] "+l"(b), [c] "+l"(c), [d] "+l"(d), [sum_a] "+Te"(sums.a),
          [sum_b] "+Te"(sums.b), [sum_c] "+Te"(sums.c), [sum_d] "+Te"(sums.d)
        : [depth] "r"(depth)
        : "lr", "q0", "q1", "q2", "memory");
    return sums;
}
#else
MG_INLINE mg_sums_1x4_s16 mg_mve_dot_1x4_s16(mg_sums_1x4_s16 sums, const int16_t *x,
                                             const int8_t *a, const int8_t *b, const int8_t *c,
                                             const int8_t *d, int32_t depth)
{
    sums.a += mg_few_s16(x, a, depth);
    sums.b += mg_few_s16(x, b, depth);
    sums.c += mg_few_s16(x, c, depth);
    sums.d += mg_few_s16(x, d, depth);
    return sums;
}
#endif

/* Computes all channels of the first three of `count` pixels, or of fewer if there are not as many.
 * The pixels' `depth` values follow one another, in the order of the weights [channels][depth];
 * output is [count][channels]. In place of a pixel or channel that does not exist, the first one of
 * the block is computed again, and stored where it already is. */
MG_INLINE void mg_mve_pixels_s16(const mg_folded_s16 *folded, const int16_t *values, int32_t count,
                                 const int8_t *weight, int32_t channels, int32_t depth,
                                 int16_t *output)
{
    const int32_t second = (count > 1) ? 1 : 0;
    const int32_t third = (count > 2) ? 2 : 0;

    for (int32_t c = 0; c < channels; c += 2) {
        const int32_t d = (c + 1 < channels) ? (c + 1) : c;
        const int32_t a = folded->bias[c];
        const int32_t b = folded->bias[d];
        const mg_sums_3x2_s16 biases = {a, b, a, b, a, b};
        const mg_sums_3x2_s16 sums =
            mg_mve_dot_3x2_s16(biases, values, &values[second * depth], &values[third * depth],
                               &weight[c * depth], &weight[d * depth], depth);
        int16_t *q = &output[second * channels];
        int16_t *r = &output[third * channels];
        output[c] = mg_scaled_sum_s16(folded, c, sums.pa);
        output[d] = mg_scaled_sum_s16(folded, d, sums.pb);
        q[c] = mg_scaled_sum_s16(folded, c, sums.qa);
        q[d] = mg_scaled_sum_s16(folded, d, sums.qb);
        r[c] = mg_scaled_sum_s16(folded, c, sums.ra);
        r[d] = mg_scaled_sum_s16(folded, d, sums.rb);
    }
}

#endif

#endif
