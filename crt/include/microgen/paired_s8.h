/* SPDX-License-Identifier: Apache-2.0 */
/* Dot products of int8 values with paired weights, for cores with the Arm DSP extension.
 *
 * A halfword of weights is `second + 256 * first`, for the first and the second of two values. So
 * the same word of weights serves two products of halfwords, after its low bytes were widened:
 *
 *     high = first value - 127           times the halfword:  256 * high * first + high * second
 *     low = 256 * second value - high    times `second`:      256 * value * second - high * second
 *
 * Both together are 256 times the sum of `high * first` and `value * second`. All halves fit int16:
 * `high` is between -255 and 0, so `low` is at least -32768 and at most 256 * 127 + 255 = 32767. A
 * first weight is at least -127, so that the halfword is at least 256 * -127 - 128.
 *
 * What sums are larger by, because 127 is subtracted from the first values, is in the bias. No
 * partial sum leaves int32: microgen/kernels/paired.py adds the magnitudes of all products. */
#ifndef MICROGEN_PAIRED_S8_H
#define MICROGEN_PAIRED_S8_H

#include <stdint.h>

#include "microgen/dsp.h"
#include "microgen/inline.h"
#include "microgen/scaling_s8.h"

enum {
    MG_PAIRED_COLUMN = 8,  /* words of four values of four pixels: high of each, low of each */
    MG_PAIRED_STACK = 320  /* words of stack of the kernels that need no scratch memory */
};

/* Where the columns of four pixels are. */
enum {
    MG_IN_SCRATCH, /* in the scratch memory, which is aligned to 4 bytes */
    MG_ON_STACK    /* in MG_PAIRED_STACK words of stack */
};

/* What a block of pixels is computed with: `steps` groups of four values, and their weights. */
typedef struct {
    const int32_t *weight;
    const int32_t *bias;
    int32_t steps;
    int32_t channels;
} mg_paired_filters;

/* The sums of four pixels for two channels. */
typedef struct {
    int32_t a[4];
    int32_t b[4];
} mg_paired_sums;

/* Stores a word of four values as `high` and `low`, which are `apart` words apart. */
MG_INLINE void mg_paired_put(uint32_t *to, int32_t apart, uint32_t values)
{
    const uint32_t high = mg_sxtab16(0xFF81FF81U, values);

    to[0] = high;
    to[apart] = mg_ssub16(values & 0xFF00FF00U, high);
}

/* Adds the products of four pixels with two channels. Returns the next channels' weights. */
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && !defined(__clang__)

/* GCC keeps eight sums and their operands in registers only if it is told the instructions: they
 * take all 14 registers. So the end of the loop is compared with memory, once in four steps. */
#define MG_PAIRED_TWO(w, v, a0, b0, a1, b1)                                                        \
    "ldrd %[x], %[y], [%[values]], #8\n"                                                           \
    "smlad %[" a0 "], %[x], %[" w "], %[" a0 "]\n"                                                 \
    "smlad %[" b0 "], %[x], %[" v "], %[" b0 "]\n"                                                 \
    "smlad %[" a1 "], %[y], %[" w "], %[" a1 "]\n"                                                 \
    "smlad %[" b1 "], %[y], %[" v "], %[" b1 "]\n"
#define MG_PAIRED_FOUR                                                                             \
    MG_PAIRED_TWO("w", "v", "a0", "b0", "a1", "b1")                                                \
    MG_PAIRED_TWO("w", "v", "a2", "b2", "a3", "b3")
#define MG_PAIRED_STEP                                                                             \
    "ldrd %[w], %[v], [%[weight]], #8\n" MG_PAIRED_FOUR                                            \
    "sxtb16 %[w], %[w]\n"                                                                          \
    "sxtb16 %[v], %[v]\n" MG_PAIRED_FOUR

MG_INLINE const int32_t *mg_paired_add(mg_paired_sums *sums, const uint32_t *values,
                                       const int32_t *weight, int32_t steps)
{
    const uint32_t *const end = values + steps * MG_PAIRED_COLUMN;
    int32_t w = steps & 3;
    int32_t v;
    uint32_t x;
    uint32_t y;

    __asm__("cmp %[w], #1\n"
            "blt 4f\n"
            "beq 1f\n"
            "cmp %[w], #3\n"
            "blt 2f\n"
            "b 3f\n"
            "4:\n" MG_PAIRED_STEP "3:\n" MG_PAIRED_STEP "2:\n" MG_PAIRED_STEP
            "1:\n" MG_PAIRED_STEP "ldr %[x], %[end]\n"
            "cmp %[values], %[x]\n"
            "bne 4b\n"
            : [a0] "+r"(sums->a[0]), [a1] "+r"(sums->a[1]), [a2] "+r"(sums->a[2]),
              [a3] "+r"(sums->a[3]), [b0] "+r"(sums->b[0]), [b1] "+r"(sums->b[1]),
              [b2] "+r"(sums->b[2]), [b3] "+r"(sums->b[3]), [values] "+r"(values),
              [weight] "+r"(weight), [w] "+r"(w), [v] "=&r"(v), [x] "=&r"(x), [y] "=&r"(y)
            : [end] "m"(end)
            : "cc", "memory");
    return weight;
}

#else

MG_INLINE void mg_paired_add_four(int32_t sums[4], const uint32_t *values, uint32_t weights)
{
    for (int32_t i = 0; i < 4; i++) {
        sums[i] = mg_smlad(values[i], weights, sums[i]);
        sums[i] = mg_smlad(values[4 + i], mg_sxtb16(weights), sums[i]);
    }
}

MG_INLINE const int32_t *mg_paired_add(mg_paired_sums *sums, const uint32_t *values,
                                       const int32_t *weight, int32_t steps)
{
    for (int32_t i = 0; i < steps; i++) {
        mg_paired_add_four(sums->a, &values[MG_PAIRED_COLUMN * i], (uint32_t)weight[2 * i]);
        mg_paired_add_four(sums->b, &values[MG_PAIRED_COLUMN * i], (uint32_t)weight[2 * i + 1]);
    }
    return weight + 2 * steps;
}

#endif

/* Stores a channel of four pixels, which are `step` values apart. They are stored backwards: with
 * a step of 0 the first one remains. */
MG_INLINE void mg_paired_store(const mg_scaling *s, const mg_channel *channel,
                               const int32_t sums[4], int8_t *output, int32_t step,
                               int requantization)
{
    output[3 * step] = mg_paired_output(s, channel, sums[3], requantization);
    output[2 * step] = mg_paired_output(s, channel, sums[2], requantization);
    output[step] = mg_paired_output(s, channel, sums[1], requantization);
    output[0] = mg_paired_output(s, channel, sums[0], requantization);
}

/* All channels, two or more, of four pixels whose values are in `columns`. The pixels of the output
 * are `step` values apart. The last two channels have weights of their own: if the number of
 * channels is odd, the first of them is computed twice. */
MG_INLINE void mg_paired_block(const mg_paired_filters *filters, const mg_scaling *s,
                               const uint32_t *columns, int8_t *output, int32_t step,
                               int requantization)
{
    const int32_t *weight = filters->weight;
    const int32_t last = filters->channels - 2;

    for (int32_t c = 0; c < last + 2; c += 2) {
        const int32_t at = (c < last) ? c : last;
        const mg_channel first = mg_channel_of(s, filters->bias, at, requantization);
        const mg_channel second = mg_channel_of(s, filters->bias, at + 1, requantization);
        const int32_t a = mg_paired_start(&first, requantization);
        const int32_t b = mg_paired_start(&second, requantization);
        mg_paired_sums sums = {{a, a, a, a}, {b, b, b, b}};

        weight = mg_paired_add(&sums, columns, weight, filters->steps);
        mg_paired_store(s, &first, sums.a, &output[at], step, requantization);
        mg_paired_store(s, &second, sums.b, &output[at + 1], step, requantization);
    }
}

#endif
