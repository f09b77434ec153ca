/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8, for cores without SIMD instructions: four output channels at a time,
 * whose weights are interleaved. */
#ifndef MICROGEN_DENSE_S8_INTERLEAVED_H
#define MICROGEN_DENSE_S8_INTERLEAVED_H

#include "microgen/dense/dense_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_dense_s8_params mg_dense_s8_interleaved_params;

/* The sums of four channels. */
typedef struct {
    int32_t a;
    int32_t b;
    int32_t c;
    int32_t d;
} mg_dense_s8_sums;

/* Adds the products of one value with the weights of four channels. */
MG_INLINE mg_dense_s8_sums mg_dense_s8_interleaved_step(mg_dense_s8_sums sums, int32_t value,
                                                        const int8_t *weight)
{
    sums.a += value * weight[0];
    sums.b += value * weight[1];
    sums.c += value * weight[2];
    sums.d += value * weight[3];
    return sums;
}

/* Adds the products of two values. */
MG_INLINE mg_dense_s8_sums mg_dense_s8_interleaved_steps(mg_dense_s8_sums sums,
                                                         const int8_t *values, const int8_t *weight)
{
    sums = mg_dense_s8_interleaved_step(sums, values[0], &weight[0]);
    return mg_dense_s8_interleaved_step(sums, values[1], &weight[4]);
}

/* The compiler would otherwise load all weights of a step before it multiplies any, and have no
 * registers for them. */
#ifdef __GNUC__
#define MG_DENSE_INTERLEAVED_OPAQUE(sums, values, weight)                                          \
    __asm__(""                                                                                     \
            : "+r"((sums).a), "+r"((sums).b), "+r"((sums).c), "+r"((sums).d), "+r"(values),        \
              "+r"(weight))
#else
#define MG_DENSE_INTERLEAVED_OPAQUE(sums, values, weight) ((void)(sums))
#endif

/* The sums of four channels over n values. There is one copy for the layers of a model, which gains
 * little from a constant n. */
MG_ONCE void mg_interleaved_dot(const int8_t *values, const int8_t *weight, int32_t n,
                                int32_t results[4])
{
    const int8_t *const end = values + n;
    const int8_t *const whole = end - (n & 7);
    mg_dense_s8_sums sums = {0, 0, 0, 0};

    while (values != whole) {
        sums = mg_dense_s8_interleaved_steps(sums, values, weight);
        MG_DENSE_INTERLEAVED_OPAQUE(sums, values, weight);
        sums = mg_dense_s8_interleaved_steps(sums, values + 2, weight + 8);
        MG_DENSE_INTERLEAVED_OPAQUE(sums, values, weight);
        sums = mg_dense_s8_interleaved_steps(sums, values + 4, weight + 16);
        MG_DENSE_INTERLEAVED_OPAQUE(sums, values, weight);
        sums = mg_dense_s8_interleaved_steps(sums, values + 6, weight + 24);
        values += 8;
        weight += 32;
    }
    while (values != end) {
        sums = mg_dense_s8_interleaved_step(sums, *values, weight);
        values++;
        weight += 4;
    }
    results[0] = sums.a;
    results[1] = sums.b;
    results[2] = sums.c;
    results[3] = sums.d;
}

/* The output of channel c. */
MG_INLINE int8_t mg_dense_s8_interleaved_output(const mg_dense_s8_params *p,
                                                const mg_scaling *scaling, const int32_t *bias,
                                                int32_t c, int32_t sum, int requantization)
{
    const int32_t at = (p->per_channel != 0) ? c : 0;
    mg_channel channel = mg_channel_of(scaling, bias, at, requantization);

    channel.bias = bias[c];
    return mg_output(scaling, &channel, sum, requantization);
}

/* Computes the same as mg_dense_s8_body. The weights of each four channels are interleaved,
 * [channel / 4][feature][4]; those of the last one to three channels, if their number is no
 * multiple of four, are not. The bias contains the input's zero point, or is that of
 * MG_LINEAR. */
MG_BODY(mg_dense_s8_interleaved, int8_t, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const int32_t depth = p->input_features;
    const int32_t channels = p->output_features;
    const int32_t whole = channels - channels % 4;

    for (int32_t n = 0; n < p->batches; n++) {
        const int8_t *values = &input[n * depth];
        int8_t *out = (int8_t *)output + n * channels;
        for (int32_t c = 0; c < whole; c += 4) {
            int32_t four[4];
            mg_interleaved_dot(values, &weight[c * depth], depth, four);
            for (int32_t i = 0; i < 4; i++) {
                out[c + i] = mg_dense_s8_interleaved_output(p, &scaling, bias, c + i, four[i],
                                                            requantization);
            }
        }
        for (int32_t c = whole; c < channels; c++) {
            int32_t sum = 0;
            for (int32_t i = 0; i < depth; i++) {
                sum += values[i] * weight[c * depth + i];
            }
            out[c] = mg_dense_s8_interleaved_output(p, &scaling, bias, c, sum, requantization);
        }
    }
}

#define MG_DENSE_S8_INTERLEAVED_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s8_interleaved, int8_t)
#define MG_DENSE_S8_INTERLEAVED_KERNEL(name, ...)                                                  \
    MG_KERNEL(name, mg_dense_s8_interleaved, int8_t, __VA_ARGS__)

#endif
