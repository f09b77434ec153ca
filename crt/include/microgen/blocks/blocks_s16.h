/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products of int16 values with int8 weights in int32, two or four channels at a time, for
 * cores that multiply two pairs of int16 in an instruction. Whoever calls must have proved that no
 * sum of products exceeds int32.
 *
 * Weights are in words of four, in the order 0, 2, 1, 3, so that SXTB16 widens neighbours: [pairs
 * of channels][fours of a filter][2 channels]. Filters end with weights of 0, up to a multiple of
 * four.
 */
#ifndef MICROGEN_BLOCKS_S16_H
#define MICROGEN_BLOCKS_S16_H

#include <string.h>

#include "microgen/arithmetic/clamp.h"
#include "microgen/blocks/dsp.h"

/* How sums become outputs: (sum + bias) * factor / 2^32, rounded to nearest, ties upwards, then
 * clamped. That is mg_requantize_reduced, with the multiplier times a power of two. No sum with its
 * bias may exceed int32. */
typedef struct {
    const int32_t *bias; /* per channel, as factor */
    const int32_t *factor;
    int32_t activation_min;
    int32_t activation_max;
} mg_folded_s16;

/* x, saturated to int16. */
MG_INLINE int32_t mg_saturated_s16(int32_t x)
{
/* clang 14 defines the first macro for the baseline of Armv8-M, too, which has no ssat. */
#if defined(__ARM_FEATURE_SAT) && __ARM_ARCH_ISA_THUMB >= 2
    int32_t result;
    __asm__("ssat %0, #16, %1" : "=r"(result) : "r"(x));
    return result;
#else
    return mg_clamp_s16(x, INT16_MIN, INT16_MAX);
#endif
}

/* The nearest value in the activation's range. If its limits are constants that exclude no int16
 * value, the compiler sees that only the saturation is left. */
MG_INLINE int16_t mg_activated_s16(int32_t x, int32_t least, int32_t most)
{
    const int16_t stored = (int16_t)mg_saturated_s16(x);
    return mg_clamp_s16(stored, least, most);
}

/* The output of channel c, whose sum includes its bias. */
MG_INLINE int16_t mg_scaled_sum_s16(const mg_folded_s16 *f, int32_t c, int32_t sum)
{
    return mg_activated_s16(mg_smmulr(sum, f->factor[c]), f->activation_min, f->activation_max);
}

/* The output of channel c. */
MG_INLINE int16_t mg_folded_output_s16(const mg_folded_s16 *f, int32_t c, int32_t sum)
{
    return mg_scaled_sum_s16(f, c, sum + f->bias[c]);
}

/* Loads two int16 values from any address into a word, in memory order. */
MG_INLINE uint32_t mg_load_2_s16(const int16_t *values)
{
    uint32_t word = 0;
    memcpy(&word, values, sizeof(word));
    return word;
}

/* Four int16 values as two words. */
typedef struct {
    uint32_t low;
    uint32_t high;
} mg_four_s16;

/* Loads four values from any address, in memory order, and moves it on. */
MG_INLINE mg_four_s16 mg_next_4_s16(const int16_t **values)
{
    const mg_four_s16 four = {mg_load_2_s16(*values), mg_load_2_s16(*values + 2)};
    *values += 4;
    return four;
}

/* The sums of channels a and b of two pixels, p and q. */
typedef struct {
    int32_t pa;
    int32_t pb;
    int32_t qa;
    int32_t qb;
} mg_sums_2x2_s16;

/* Adds the products of four values of each pixel with a word of each filter. */
MG_INLINE mg_sums_2x2_s16 mg_add_2x2_s16(mg_sums_2x2_s16 sums, mg_four_s16 p, mg_four_s16 q,
                                         const int32_t *weights)
{
    const uint32_t a = (uint32_t)weights[0];
    const uint32_t b = (uint32_t)weights[1];
    const uint32_t a_low = mg_sxtb16(a);
    const uint32_t a_high = mg_sxtb16_odd(a);
    sums.pa = mg_smlad(p.low, a_low, sums.pa);
    sums.qa = mg_smlad(q.low, a_low, sums.qa);
    sums.pa = mg_smlad(p.high, a_high, sums.pa);
    sums.qa = mg_smlad(q.high, a_high, sums.qa);
    const uint32_t b_low = mg_sxtb16(b);
    const uint32_t b_high = mg_sxtb16_odd(b);
    sums.pb = mg_smlad(p.low, b_low, sums.pb);
    sums.qb = mg_smlad(q.low, b_low, sums.qb);
    sums.pb = mg_smlad(p.high, b_high, sums.pb);
    sums.qb = mg_smlad(q.high, b_high, sums.qb);
    return sums;
}

/* Adds the products of values from p and q on with the weights before `end`, an even number of
 * words of each filter, at least two. `aligned` says whether p and q are multiples of 4. */
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && !defined(__clang__)
/* In assembly, because the compiler begins loads too early, keeps sums on the stack, and does not
 * know when one LDRD can read p or q in place of two LDR. `end` is in memory for want of registers.
 */
#define MG_LDRD_2X2_S16                                                                            \
    "ldrd %[p_low], %[p_high], [%[p]], #8\n\t"                                                     \
    "ldrd %[q_low], %[q_high], [%[q]], #8\n\t"
#define MG_LDR_2X2_S16                                                                             \
    "ldr %[p_low], [%[p]], #4\n\t"                                                                 \
    "ldr %[p_high], [%[p]], #4\n\t"                                                                \
    "ldr %[q_low], [%[q]], #4\n\t"                                                                 \
    "ldr %[q_high], [%[q]], #4\n\t"
#define MG_STEP_2X2_S16                                                                            \
    "ldr %[word], [%[weights]], #4\n\t"                                                            \
    "sxtb16 %[pair], %[word]\n\t"                                                                  \
    "sxtb16 %[word], %[word], ror #8\n\t"                                                          \
    "smlad %[pa], %[p_low], %[pair], %[pa]\n\t"                                                    \
    "smlad %[qa], %[q_low], %[pair], %[qa]\n\t"                                                    \
    "smlad %[pa], %[p_high], %[word], %[pa]\n\t"                                                   \
    "smlad %[qa], %[q_high], %[word], %[qa]\n\t"                                                   \
    "ldr %[word], [%[weights]], #4\n\t"                                                            \
    "sxtb16 %[pair], %[word]\n\t"                                                                  \
    "sxtb16 %[word], %[word], ror #8\n\t"                                                          \
    "smlad %[pb], %[p_low], %[pair], %[pb]\n\t"                                                    \
    "smlad %[qb], %[q_low], %[pair], %[qb]\n\t"                                                    \
    "smlad %[pb], %[p_high], %[word], %[pb]\n\t"                                                   \
    "smlad %[qb], %[q_high], %[word], %[qb]\n\t"

#define MG_LOOP_2X2_S16(loads)                                                                     \
    __asm__("1:\n\t" loads MG_STEP_2X2_S16 loads MG_STEP_2X2_S16 "ldr %[word], %[end]\n\t"         \
            "cmp %[weights], %[word]\n\t"                                                          \
            "bne 1b"                                                                               \
            : [p] "+r"(p), [q] "+r"(q), [weights] "+r"(weights), [pa] "+r"(sums.pa),               \
              [pb] "+r"(sums.pb), [qa] "+r"(sums.qa), [qb] "+r"(sums.qb), [p_low] "=&r"(p_low),    \
              [p_high] "=&r"(p_high), [q_low] "=&r"(q_low), [q_high] "=&r"(q_high),                \
              [word] "=&r"(word), [pair] "=&r"(pair)                                               \
            : [end] "m"(end)                                                                       \
            : "cc", "memory")

MG_INLINE mg_sums_2x2_s16 mg_loop_2x2_s16(mg_sums_2x2_s16 sums, const int16_t *p, const int16_t *q,
                                          const int32_t *weights, const int32_t *end, int aligned)
{
    uint32_t p_low;
    uint32_t p_high;
    uint32_t q_low;
    uint32_t q_high;
    uint32_t word;
    uint32_t pair;

    if (aligned) {
        MG_LOOP_2X2_S16(MG_LDRD_2X2_S16);
    } else {
        MG_LOOP_2X2_S16(MG_LDR_2X2_S16);
    }
    return sums;
}
#else
MG_INLINE mg_sums_2x2_s16 mg_loop_2x2_s16(mg_sums_2x2_s16 sums, const int16_t *p, const int16_t *q,
                                          const int32_t *weights, const int32_t *end, int aligned)
{
    (void)aligned;
    do {
        const mg_four_s16 first = mg_next_4_s16(&p);
        sums = mg_add_2x2_s16(sums, first, mg_next_4_s16(&q), weights);
        weights += 2;
    } while (weights != end);
    return sums;
}
#endif

/* The sums of products of the two pixels' values with a pair of filters: 4 * `fours` each. */
MG_INLINE mg_sums_2x2_s16 mg_dot_2x2_s16(const int16_t *p, const int16_t *q, const int32_t *weights,
                                         int32_t fours, int aligned)
{
    mg_sums_2x2_s16 sums = {0, 0, 0, 0};
    const int32_t *end = &weights[2 * fours];

    if (fours % 2 != 0) {
        const mg_four_s16 first = mg_next_4_s16(&p);
        sums = mg_add_2x2_s16(sums, first, mg_next_4_s16(&q), weights);
        weights += 2;
    }
    return (weights != end) ? mg_loop_2x2_s16(sums, p, q, weights, end, aligned) : sums;
}

/* The sums of four channels of one pixel. */
typedef struct {
    int32_t a;
    int32_t b;
    int32_t c;
    int32_t d;
} mg_sums_1x4_s16;

/* Adds the products of four values with a word of each filter, two words at each place. */
MG_INLINE mg_sums_1x4_s16 mg_add_1x4_s16(mg_sums_1x4_s16 sums, mg_four_s16 x,
                                         const int32_t *weights, const int32_t *others)
{
    const uint32_t a = (uint32_t)weights[0];
    const uint32_t b = (uint32_t)weights[1];
    sums.a = mg_smlad(x.low, mg_sxtb16(a), sums.a);
    sums.a = mg_smlad(x.high, mg_sxtb16_odd(a), sums.a);
    sums.b = mg_smlad(x.low, mg_sxtb16(b), sums.b);
    sums.b = mg_smlad(x.high, mg_sxtb16_odd(b), sums.b);
    const uint32_t c = (uint32_t)others[0];
    const uint32_t d = (uint32_t)others[1];
    sums.c = mg_smlad(x.low, mg_sxtb16(c), sums.c);
    sums.c = mg_smlad(x.high, mg_sxtb16_odd(c), sums.c);
    sums.d = mg_smlad(x.low, mg_sxtb16(d), sums.d);
    sums.d = mg_smlad(x.high, mg_sxtb16_odd(d), sums.d);
    return sums;
}

/* Adds the products of the values from x on with the weights before `end` and with as many others,
 * an even number of words of each filter, at least two. */
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && !defined(__clang__)
#define MG_PAIR_1X4_S16(pointer, sum, next)                                                        \
    "ldrd %[word], %[other], [%[" pointer "]], #8\n\t"                                             \
    "sxtb16 %[pair], %[word]\n\t"                                                                  \
    "sxtb16 %[word], %[word], ror #8\n\t"                                                          \
    "smlad %[" sum "], %[low], %[pair], %[" sum "]\n\t"                                            \
    "sxtb16 %[pair], %[other]\n\t"                                                                 \
    "smlad %[" sum "], %[high], %[word], %[" sum "]\n\t"                                           \
    "sxtb16 %[other], %[other], ror #8\n\t"                                                        \
    "smlad %[" next "], %[low], %[pair], %[" next "]\n\t"                                          \
    "smlad %[" next "], %[high], %[other], %[" next "]\n\t"
#define MG_STEP_1X4_S16                                                                            \
    "ldr %[low], [%[x]], #4\n\tldr %[high], [%[x]], #4\n\t" MG_PAIR_1X4_S16(                       \
        "weights", "sum_a", "sum_b") MG_PAIR_1X4_S16("others", "sum_c", "sum_d")

MG_INLINE mg_sums_1x4_s16 mg_loop_1x4_s16(mg_sums_1x4_s16 sums, const int16_t *x,
                                          const int32_t *weights, const int32_t *others,
                                          const int32_t *end)
{
    uint32_t low;
    uint32_t high;
    uint32_t word;
    uint32_t other;
    uint32_t pair;

    __asm__("1:\n\t" MG_STEP_1X4_S16 MG_STEP_1X4_S16 "ldr %[word], %[end]\n\t"
            "cmp %[weights], %[word]\n\t"
            "bne 1b"
            : [x] "+r"(x), [weights] "+r"(weights), [others] "+r"(others), [sum_a] "+r"(sums.a),
              [sum_b] "+r"(sums.b), [sum_c] "+r"(sums.c), [sum_d] "+r"(sums.d), [low] "=&r"(low),
              [high] "=&r"(high), [word] "=&r"(word), [other] "=&r"(other), [pair] "=&r"(pair)
            : [end] "m"(end)
            : "cc", "memory");
    return sums;
}
#else
MG_INLINE mg_sums_1x4_s16 mg_loop_1x4_s16(mg_sums_1x4_s16 sums, const int16_t *x,
                                          const int32_t *weights, const int32_t *others,
                                          const int32_t *end)
{
    do {
        sums = mg_add_1x4_s16(sums, mg_next_4_s16(&x), weights, others);
        weights += 2;
        others += 2;
    } while (weights != end);
    return sums;
}
#endif

/* One to three values from any address, then zeros. */
MG_INLINE mg_four_s16 mg_rest_s16(const int16_t *values, int32_t count)
{
    mg_four_s16 four = {(uint16_t)values[0], 0};

    if (count > 1) {
        four.low = mg_load_2_s16(values);
    }
    if (count > 2) {
        four.high = (uint16_t)values[2];
    }
    return four;
}

/* Adds the products of one pixel's `depth` values with two pairs of filters, which are `step` words
 * apart. */
MG_INLINE mg_sums_1x4_s16 mg_dot_1x4_s16(mg_sums_1x4_s16 sums, const int16_t *values,
                                         const int32_t *weights, int32_t step, int32_t depth)
{
    const int32_t *others = &weights[step];
    const int32_t *end = &weights[2 * (depth / 4)];

    if (depth % 4 != 0) {
        const mg_four_s16 rest = mg_rest_s16(&values[depth - depth % 4], depth % 4);
        sums = mg_add_1x4_s16(sums, rest, end, &end[step]);
    }
    if (depth / 4 % 2 != 0) {
        sums = mg_add_1x4_s16(sums, mg_next_4_s16(&values), weights, others);
        weights += 2;
        others += 2;
    }
    return (weights != end) ? mg_loop_1x4_s16(sums, values, weights, others, end) : sums;
}

/* Computes all channels of two pixels with filters of 4 * `fours` weights. If `is_one`, q is p, and
 * only its outputs are stored. `aligned`, a constant, says whether p and q are multiples of 4. */
MG_INLINE void mg_pixels_s16(const mg_folded_s16 *folded, const int16_t *p, const int16_t *q,
                             const int32_t *weights, int32_t channels, int32_t fours,
                             int32_t is_one, int aligned, int16_t *output)
{
    for (int32_t c = 0; c < channels; c += 2) {
        const mg_sums_2x2_s16 sums = mg_dot_2x2_s16(p, q, &weights[c * fours], fours, aligned);
        const int32_t has_b = c + 1 < channels;
        output[c] = mg_folded_output_s16(folded, c, sums.pa);
        if (has_b) {
            output[c + 1] = mg_folded_output_s16(folded, c + 1, sums.pb);
        }
        if (!is_one) {
            output[channels + c] = mg_folded_output_s16(folded, c, sums.qa);
            if (has_b) {
                output[channels + c + 1] = mg_folded_output_s16(folded, c + 1, sums.qb);
            }
        }
    }
}

#endif
