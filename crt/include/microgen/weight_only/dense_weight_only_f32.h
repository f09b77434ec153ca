/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, float32, whose weights are stored as integers. */
#ifndef MICROGEN_DENSE_WEIGHT_ONLY_F32_H
#define MICROGEN_DENSE_WEIGHT_ONLY_F32_H

#include "microgen/blocks/sums_f32.h"
#include "microgen/dense/dense.h"
#include "microgen/weight_only/weight_only.h"

typedef struct {
    MG_DENSE_SIZES
    int32_t per_channel;  /* 1: one scale per output feature; 0: one for all */
    float activation_min; /* finite */
    float activation_max; /* finite, activation_min or more */
} mg_dense_weight_only_f32_params;

/* sum + the products of n values with a row of n weights. */
MG_INLINE float mg_dot_stored(float sum, const float *values, const void *row, int32_t n,
                              float scale, int weights)
{
    if (weights == MG_WEIGHTS_S4) {
        const uint8_t *bytes = (const uint8_t *)row;
        const int32_t whole = n - n % 2;
        for (int32_t i = 0; i < whole; i += 2) {
            const uint8_t byte = *bytes++;
            sum += values[i] * ((float)mg_low_s4(byte) * scale);
            sum += values[i + 1] * ((float)mg_high_s4(byte) * scale);
        }
        return (whole < n) ? sum + values[whole] * ((float)mg_low_s4(*bytes) * scale) : sum;
    }
    for (int32_t i = 0; i < n; i++) {
        sum += values[i] * ((float)((const int8_t *)row)[i] * scale);
    }
    return sum;
}

/* The sums of four consecutive rows of n int8 weights, whose scales are `scale`. Each value is
 * read once for all four. */
MG_INLINE mg_sums_f32 mg_dot_4_stored(const float *values, const int8_t *rows, int32_t n,
                                      const float *scale)
{
    mg_sums_f32 sums = {0.0F, 0.0F, 0.0F, 0.0F};

    for (int32_t i = 0; i < n; i++) {
        const float value = values[i];
        sums.a += value * ((float)rows[i] * scale[0]);
        sums.b += value * ((float)rows[i + n] * scale[1]);
        sums.c += value * ((float)rows[i + 2 * n] * scale[2]);
        sums.d += value * ((float)rows[i + 3 * n] * scale[3]);
    }
    return sums;
}

/* The kernels mg_dense_weight_only_f32 and mg_dense_weight_only_f32_int4. Multiplies input
 * [batches][input_features] by weight [output_features][input_features], stored as the constant
 * `weights` says, into output [batches][output_features].
 *
 * Each weight is dequantized, products are added in the order of the features, then the bias, and
 * the sum is clamped. bias [output_features] may be NULL. scale has output_features elements if
 * per_channel is 1, otherwise one. Output must not overlap the input. */
MG_INLINE void mg_dense_weight_only_f32_body(MG_ARGUMENTS_WEIGHT_ONLY(mg_dense_weight_only_f32),
                                             int weights)
{
    const mg_finish_f32 finish = {bias, p->activation_min, p->activation_max};
    const int32_t n = p->input_features;
    const int32_t row_bytes = mg_row_bytes_stored(n, weights);
    const int32_t features = p->output_features;
    const int32_t in_fours = (weights == MG_WEIGHTS_S8) ? features - features % 4 : 0;

    for (int32_t batch = 0; batch < p->batches; batch++) {
        const float *values = &input[batch * n];
        float *results = &output[batch * features];

        for (int32_t o = 0; o < in_fours; o += 4) {
            const float one[4] = {scale[0], scale[0], scale[0], scale[0]};
            const int8_t *rows = (const int8_t *)mg_row_stored(weight, o, row_bytes);
            mg_store_4_f32(
                &finish, o,
                mg_dot_4_stored(values, rows, n, (p->per_channel != 0) ? &scale[o] : one), results);
        }
        for (int32_t o = in_fours; o < features; o++) {
            const float sum = mg_dot_stored(0.0F, values, mg_row_stored(weight, o, row_bytes), n,
                                            scale[(p->per_channel != 0) ? o : 0], weights);
            results[o] = mg_finished_f32(&finish, o, sum);
        }
    }
}

#define MG_DENSE_WEIGHT_ONLY_F32_PROTOTYPE(name)                                                   \
    MG_PROTOTYPE_WEIGHT_ONLY(name, mg_dense_weight_only_f32)
#define MG_DENSE_WEIGHT_ONLY_F32_KERNEL(name, ...)                                                 \
    MG_KERNEL_WEIGHT_ONLY(name, mg_dense_weight_only_f32, __VA_ARGS__)

#endif
