/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layers, int16 with int8 weights: four features at a time, by MVE or by the DSP
 * extension.
 *
 * A factor is the scale times 2^64: its lower 32 bits as an int32, then what remains, which is
 * below 2^31. So the result is floor((sum * factor + 2^63) / 2^64), with nothing lost: the product
 * with the lower half is rounded down, and so is what it is added to. No step exceeds int64, for
 * the product with the upper half is at most 2^62.
 *
 * For mg_requantize_reduced that is exact. For mg_requantize_real, whoever makes the factors must
 * have proved that all sums give the same. */
#ifndef MICROGEN_DENSE_FACTORED_S16_H
#define MICROGEN_DENSE_FACTORED_S16_H

#include <stddef.h>

#include "microgen/blocks/blocks_s16.h"
#include "microgen/dense/dense.h"
#include "microgen/out_of_line.h"

#if defined(__ARM_FEATURE_MVE)
#include "microgen/blocks/blocks_s16_mve.h"
#endif

typedef struct {
    MG_DENSE_SIZES
    int32_t per_channel;    /* 1: one factor per output feature; 0: one */
    int32_t activation_min; /* -32768 to 32767 */
    int32_t activation_max; /* activation_min to 32767 */
} mg_dense_s16_factor_params;

/* What the outputs of a layer share. */
typedef struct {
    const int32_t *bias;   /* [output_features] */
    const int32_t *factor; /* [output_features][2], or one for all */
    int32_t per_channel;
    int32_t activation_min;
    int32_t activation_max;
} mg_factors_s16;

/* The biases of features o to o + 3, of which `count` exist. */
MG_INLINE mg_sums_1x4_s16 mg_four_biases_s16(const mg_factors_s16 *f, int32_t o, int32_t count)
{
    const int32_t *bias = &f->bias[o];
    const mg_sums_1x4_s16 sums = {bias[0], (count > 1) ? bias[1] : 0, (count > 2) ? bias[2] : 0,
                                  (count > 3) ? bias[3] : 0};
    return sums;
}

/* Output feature o, whose sum includes its bias. */
MG_INLINE int16_t mg_factored_s16(const mg_factors_s16 *f, int32_t o, int32_t sum)
{
    const int32_t *factor = &f->factor[(f->per_channel != 0) ? 2 * o : 0];
    const int64_t low = ((int64_t)sum * factor[0]) >> 32;
    const int64_t scaled = (int64_t)sum * factor[1] + (low + ((int64_t)1 << 31));
    return mg_activated_s16((int32_t)(scaled >> 32), f->activation_min, f->activation_max);
}

/* Stores output features o to o + 3, of which `count` exist. */
MG_INLINE void mg_store_four_s16(const mg_factors_s16 *f, int32_t o, int32_t count,
                                 mg_sums_1x4_s16 sums, int16_t *output)
{
    output[o] = mg_factored_s16(f, o, sums.a);
    if (count > 1) {
        output[o + 1] = mg_factored_s16(f, o + 1, sums.b);
    }
    if (count > 2) {
        output[o + 2] = mg_factored_s16(f, o + 2, sums.c);
    }
    if (count > 3) {
        output[o + 3] = mg_factored_s16(f, o + 3, sums.d);
    }
}

/* The sums of output features o to o + 3, of which `count` exist. */
MG_INLINE mg_sums_1x4_s16 mg_dense_s16_dsp_four(const mg_dense_s16_factor_params *p,
                                                const int16_t *row, const int32_t *words,
                                                const mg_factors_s16 *factors, int32_t o,
                                                int32_t count)
{
    const int32_t fours = (p->input_features + 3) / 4;
    const int32_t step = (count > 2) ? 2 * fours : 0; /* there may be no second pair */
    return mg_dot_1x4_s16(mg_four_biases_s16(factors, o, count), row, &words[o * fours], step,
                          p->input_features);
}

#if defined(__ARM_FEATURE_MVE)
/* The same, for MVE. */
MG_INLINE mg_sums_1x4_s16 mg_dense_s16_mve_four(const mg_dense_s16_factor_params *p,
                                                const int16_t *row, const int8_t *weight,
                                                const mg_factors_s16 *factors, int32_t o,
                                                int32_t count)
{
    const int32_t depth = p->input_features;
    const int8_t *filter = &weight[o * depth];
    return mg_mve_dot_1x4_s16(
        mg_four_biases_s16(factors, o, count), row, filter, filter + ((count > 1) ? depth : 0),
        filter + ((count > 2) ? 2 * depth : 0), filter + ((count > 3) ? 3 * depth : 0), depth);
}
#endif

/* The weights of a layer: bytes [output_features][input_features] for MVE, or words in the order of
 * microgen/blocks/blocks_s16.h. The other one is NULL. */
typedef struct {
    const int8_t *bytes;
    const int32_t *words;
} mg_dense_s16_weights;

MG_INLINE mg_sums_1x4_s16 mg_dense_s16_four(const mg_dense_s16_factor_params *p, const int16_t *row,
                                            const mg_dense_s16_weights *weights,
                                            const mg_factors_s16 *factors, int32_t o, int32_t count)
{
#if defined(__ARM_FEATURE_MVE)
    if (weights->words == NULL) {
        return mg_dense_s16_mve_four(p, row, weights->bytes, factors, o, count);
    }
#endif
    return mg_dense_s16_dsp_four(p, row, weights->words, factors, o, count);
}

/* Computes the layer. */
MG_INLINE void mg_dense_s16_factored(const mg_dense_s16_factor_params *p, const int16_t *input,
                                     mg_dense_s16_weights weights, const int32_t *bias,
                                     const int32_t *factor, int16_t *output)
{
    const mg_factors_s16 factors = {bias, factor, p->per_channel, p->activation_min,
                                    p->activation_max};

    for (int32_t n = 0; n < p->batches; n++) {
        const int16_t *row = &input[n * p->input_features];
        for (int32_t o = 0; o < p->output_features; o += 4) {
            const int32_t count = p->output_features - o;
            mg_store_four_s16(&factors, o, count,
                              mg_dense_s16_four(p, row, &weights, &factors, o, count),
                              &output[n * p->output_features]);
        }
    }
}

/* A fully connected layer, int16 with int8 weights, for the DSP extension: four features at a time.
 */
typedef mg_dense_s16_factor_params mg_dense_s16_dsp_params;

/* Multiplies input [batches][input_features] by the weights [output_features][input_features],
 * which are in the order of microgen/blocks/blocks_s16.h, into output [batches][output_features].
 * Factors are those of microgen/dense/dense_factored_s16.h. No sum of products and bias may exceed
 * int32. Output must not overlap the input. */
MG_EXTERN void mg_dense_s16_dsp(MG_ARGUMENTS_FACTORED(mg_dense_s16_dsp, int32_t));

MG_INLINE void mg_dense_s16_dsp_body(MG_ARGUMENTS_FACTORED(mg_dense_s16_dsp, int32_t))
{
    const mg_dense_s16_weights weights = {NULL, weight};
    mg_dense_s16_factored(p, input, weights, bias, factor, output);
}

/* A fully connected layer, int16 with int8 weights, for MVE: four features at a time. */
typedef mg_dense_s16_factor_params mg_dense_s16_mve_params;

/* Computes the same as mg_dense_s16_dsp, with weight [output_features][input_features]. */
MG_EXTERN void mg_dense_s16_mve(MG_ARGUMENTS_FACTORED(mg_dense_s16_mve, int8_t));

#if defined(__ARM_FEATURE_MVE)

MG_INLINE void mg_dense_s16_mve_body(MG_ARGUMENTS_FACTORED(mg_dense_s16_mve, int8_t))
{
    const mg_dense_s16_weights weights = {weight, NULL};
    mg_dense_s16_factored(p, input, weights, bias, factor, output);
}

#ifdef MG_DENSE_FACTORED_S16_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_dense_s16_mve, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_dense_s16_mve, int8_t))
#endif

#endif

#ifdef MG_DENSE_FACTORED_S16_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_dense_s16_dsp, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_dense_s16_dsp, int32_t))
#endif

#endif
