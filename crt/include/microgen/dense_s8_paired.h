/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8, four output channels at a time, with the paired weights of
 * paired_s8.h. */
#ifndef MICROGEN_DENSE_S8_PAIRED_H
#define MICROGEN_DENSE_S8_PAIRED_H

#include <stdint.h>

#include "microgen/dense_s8.h"
#include "microgen/inline.h"
#include "microgen/out_of_line.h"
#include "microgen/paired_s8.h"
#include "microgen/scaling_s8.h"

typedef mg_dense_s8_params mg_dense_s8_paired_params;

/* Stores a row of data: for each four values a word of high and one of low. */
MG_INLINE void mg_dense_s8_paired_row(const int8_t *values, int32_t depth, uint32_t *to)
{
    const uint32_t less = mg_paired_less();
    const int8_t *const end = values + (depth - depth % 4);
    uint32_t left = 0;

    for (; values != end; values += 4) {
        mg_paired_put(to, 1, mg_load_4_s8(values), less);
        to += 2;
    }
    for (int32_t i = 0; i < depth % 4; i++) {
        left |= (uint32_t)(uint8_t)values[i] << (8 * i);
    }
    if (depth % 4 > 0) {
        mg_paired_put(to, 1, left, less);
    }
}

/* Adds the products of a row of data with four channels. Returns the next channels' weights. */
#ifdef MG_PAIRED_ASSEMBLY

#define MG_DENSE_PAIRED_FOUR(x)                                                                    \
    "smlad %[s0], %[" x "], %[w0], %[s0]\n"                                                        \
    "smlad %[s1], %[" x "], %[w1], %[s1]\n"                                                        \
    "smlad %[s2], %[" x "], %[w2], %[s2]\n"                                                        \
    "smlad %[s3], %[" x "], %[w3], %[s3]\n"
#define MG_DENSE_PAIRED_STEP                                                                       \
    "ldrd %[x], %[y], [%[values]], #8\n"                                                           \
    "ldmia %[weight]!, {%[w0], %[w1], %[w2], %[w3]}\n" MG_DENSE_PAIRED_FOUR(                       \
        "x") "sxtb16 %[w0], %[w0]\n"                                                               \
             "sxtb16 %[w1], %[w1]\n"                                                               \
             "sxtb16 %[w2], %[w2]\n"                                                               \
             "sxtb16 %[w3], %[w3]\n" MG_DENSE_PAIRED_FOUR("y")

/* The registers of a list must be in order. */
MG_INLINE const int32_t *mg_dense_s8_paired_add(int32_t sums[4], const uint32_t *values,
                                                const int32_t *weight, int32_t steps)
{
    const uint32_t *const end = values + 2 * steps;
    register int32_t w0 __asm__("r2") = steps & 3;
    register int32_t w1 __asm__("r3");
    register int32_t w2 __asm__("r4");
    register int32_t w3 __asm__("r5");
    uint32_t x;
    uint32_t y;

    __asm__ volatile(
        "cmp %[w0], #1\n"
        "blt 4f\n"
        "beq 1f\n"
        "cmp %[w0], #3\n"
        "blt 2f\n"
        "b 3f\n"
        "4:\n" MG_DENSE_PAIRED_STEP "3:\n" MG_DENSE_PAIRED_STEP "2:\n" MG_DENSE_PAIRED_STEP
        "1:\n" MG_DENSE_PAIRED_STEP "cmp %[values], %[end]\n"
        "bne 4b\n"
        : [s0] "+r"(sums[0]), [s1] "+r"(sums[1]), [s2] "+r"(sums[2]), [s3] "+r"(sums[3]),
          [values] "+r"(values), [weight] "+r"(weight), [w0] "+r"(w0), [w1] "=&r"(w1),
          [w2] "=&r"(w2), [w3] "=&r"(w3), [x] "=&r"(x), [y] "=&r"(y)
        : [end] "r"(end)
        : "cc", "memory");
    return weight;
}

#else

MG_INLINE const int32_t *mg_dense_s8_paired_add(int32_t sums[4], const uint32_t *values,
                                                const int32_t *weight, int32_t steps)
{
    for (int32_t i = 0; i < steps; i++) {
        for (int32_t k = 0; k < 4; k++) {
            const uint32_t pair = (uint32_t)weight[4 * i + k];
            sums[k] = mg_smlad(values[2 * i], pair, sums[k]);
            sums[k] = mg_smlad(values[2 * i + 1], mg_sxtb16(pair), sums[k]);
        }
    }
    return weight + 4 * steps;
}

#endif

/* Stores channel c. */
MG_INLINE void mg_dense_s8_paired_store(const mg_scaling *s, const int32_t *bias, int32_t c,
                                        int32_t sum, int8_t *output, int requantization)
{
    const mg_channel channel = mg_channel_of(s, bias, c, requantization);
    output[c] = mg_paired_output(s, &channel, sum, requantization);
}

/* All channels, four or more, of a row of data. The last four channels have weights of their own.
 */
MG_INLINE void mg_dense_s8_paired_channels(const mg_paired_filters *filters, const mg_scaling *s,
                                           const uint32_t *values, int8_t *output,
                                           int requantization)
{
    const int32_t *weight = filters->weight;
    const int32_t *bias = filters->bias;
    const int32_t last = filters->channels - 4;

    for (int32_t c = 0; c < last + 4; c += 4) {
        const int32_t at = (c < last) ? c : last;
        int32_t sums[4] = {mg_paired_start(bias, at, requantization),
                           mg_paired_start(bias, at + 1, requantization),
                           mg_paired_start(bias, at + 2, requantization),
                           mg_paired_start(bias, at + 3, requantization)};

        weight = mg_dense_s8_paired_add(sums, values, weight, filters->steps);
        mg_dense_s8_paired_store(s, bias, at, sums[0], output, requantization);
        mg_dense_s8_paired_store(s, bias, at + 1, sums[1], output, requantization);
        mg_dense_s8_paired_store(s, bias, at + 2, sums[2], output, requantization);
        mg_dense_s8_paired_store(s, bias, at + 3, sums[3], output, requantization);
    }
}

MG_INLINE void mg_dense_s8_paired_with(const mg_dense_s8_params *p, const int8_t *input,
                                       const int32_t *weight, const int32_t *bias,
                                       const int32_t *multiplier, const int8_t *shift, void *output,
                                       uint32_t *values, int requantization)
{
    const mg_scaling scaling = {multiplier, shift, p->output_offset, p->activation_min,
                                p->activation_max};
    const mg_paired_filters filters = {weight, bias, (p->input_features + 3) / 4,
                                       p->output_features};

    for (int32_t n = 0; n < p->batches; n++) {
        mg_dense_s8_paired_row(&input[n * p->input_features], p->input_features, values);
        mg_dense_s8_paired_channels(&filters, &scaling, values,
                                    (int8_t *)output + n * p->output_features, requantization);
    }
}

/* Computes the same as mg_dense_s8_body, with a multiplier for each channel. There must be four
 * output channels or more. Weights are in the layout of microgen/kernels/paired.py. Sums contain no
 * zero point; the bias does. The scratch memory, aligned to 4 bytes, has two words for each four
 * input features. */
MG_INLINE void mg_dense_s8_paired_body(const mg_dense_s8_paired_params *p, const int8_t *input,
                                       const int32_t *weight, const int32_t *bias,
                                       const int32_t *multiplier, const int8_t *shift, void *output,
                                       uint8_t *scratch, int requantization)
{
    mg_dense_s8_paired_with(p, input, weight, bias, multiplier, shift, output,
                            (uint32_t *)(void *)scratch, requantization);
}

#define MG_DENSE_S8_PAIRED_PROTOTYPE(name) MG_PROTOTYPE_SCRATCH(name, mg_dense_s8_paired, int32_t)
#define MG_DENSE_S8_PAIRED_KERNEL(name, ...)                                                       \
    MG_KERNEL_SCRATCH(name, mg_dense_s8_paired, int32_t, __VA_ARGS__)

#endif
