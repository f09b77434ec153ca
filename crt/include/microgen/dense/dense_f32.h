/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, float32. */
#ifndef MICROGEN_DENSE_F32_H
#define MICROGEN_DENSE_F32_H

#include <stddef.h>

#include "microgen/arithmetic/clamp.h"
#include "microgen/dense/dense.h"
#include "microgen/out_of_line.h"

typedef struct {
    MG_DENSE_SIZES
    float activation_min; /* finite */
    float activation_max; /* finite, activation_min or more */
} mg_dense_f32_params;

/* Multiplies input [batches][input_features] by weight [output_features][input_features] into
 * output [batches][output_features]. Products are added in the order of the features, then the
 * bias, and the sum is clamped. bias [output_features] may be NULL. Output must not overlap the
 * input. */
MG_EXTERN void mg_dense_f32(MG_ARGUMENTS_F32(mg_dense_f32));

/* Output feature o of one row, from the sum of its products. */
MG_INLINE float mg_dense_f32_stored(const mg_dense_f32_params *p, const float *bias, int32_t o,
                                    float sum)
{
    const float total = (bias != NULL) ? sum + bias[o] : sum;
    return mg_clamp_f32(total, p->activation_min, p->activation_max);
}

/* Computes output features o to o + 3 of one row. Each input is read once for all four. */
MG_INLINE void mg_dense_f32_four(const mg_dense_f32_params *p, const float *input,
                                 const float *weight, const float *bias, int32_t o, float *output)
{
    const int32_t n = p->input_features;
    const float *a = &weight[o * n];
    const float *b = &a[n];
    const float *c = &b[n];
    const float *d = &c[n];
    float sum_a = 0.0F;
    float sum_b = 0.0F;
    float sum_c = 0.0F;
    float sum_d = 0.0F;

    for (int32_t i = 0; i < n; i++) {
        const float x = input[i];
        sum_a += x * a[i];
        sum_b += x * b[i];
        sum_c += x * c[i];
        sum_d += x * d[i];
    }
    output[o] = mg_dense_f32_stored(p, bias, o, sum_a);
    output[o + 1] = mg_dense_f32_stored(p, bias, o + 1, sum_b);
    output[o + 2] = mg_dense_f32_stored(p, bias, o + 2, sum_c);
    output[o + 3] = mg_dense_f32_stored(p, bias, o + 3, sum_d);
}

MG_INLINE void mg_dense_f32_body(MG_ARGUMENTS_F32(mg_dense_f32))
{
    const int32_t in_fours = p->output_features - p->output_features % 4;

    for (int32_t n = 0; n < p->batches; n++) {
        const float *row = &input[n * p->input_features];
        float *results = &output[n * p->output_features];

        for (int32_t o = 0; o < in_fours; o += 4) {
            mg_dense_f32_four(p, row, weight, bias, o, results);
        }
        for (int32_t o = in_fours; o < p->output_features; o++) {
            float sum = 0.0F;
            for (int32_t i = 0; i < p->input_features; i++) {
                sum += row[i] * weight[o * p->input_features + i];
            }
            results[o] = mg_dense_f32_stored(p, bias, o, sum);
        }
    }
}

#ifdef MG_DENSE_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_dense_f32, (p, input, weight, bias, output), MG_ARGUMENTS_F32(mg_dense_f32))
#endif

#endif
