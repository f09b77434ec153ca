/* SPDX-License-Identifier: Apache-2.0 */
/* A layer factored in features and time (SVDF), float32. */
#ifndef MICROGEN_SVDF_F32_H
#define MICROGEN_SVDF_F32_H

#include <stddef.h>

#include "microgen/arithmetic/clamp.h"
#include "microgen/recurrent/svdf.h"

typedef struct {
    MG_SVDF_SIZES
    float activation_min;
    float activation_max;
} mg_svdf_f32_params;

/* Computes the layer, as microgen/recurrent/svdf.h describes it. */
MG_EXTERN void mg_svdf_f32(const mg_svdf_f32_params *p, const float *input, float *state,
                           const float *feature_weight, const float *time_weight, const float *bias,
                           float *output);

/* A filter's sum of features. */
MG_INLINE float mg_svdf_f32_latest(const mg_svdf_f32_params *p, const float *input,
                                   const float *weight)
{
    float sum = 0.0F;

    for (int32_t i = 0; i < p->features; i++) {
        sum += input[i] * weight[i];
    }
    return sum;
}

/* Drops the oldest value of a memory, appends the latest, and returns the weighted sum. */
MG_INLINE float mg_svdf_f32_remember(const mg_svdf_f32_params *p, float *memory,
                                     const float *weight, float latest)
{
    const int32_t last = p->memory - 1;
    float sum = 0.0F;

    for (int32_t m = 0; m < last; m++) {
        memory[m] = memory[m + 1];
        sum += memory[m] * weight[m];
    }
    memory[last] = latest;
    return sum + latest * weight[last];
}

MG_INLINE void mg_svdf_f32_body(const mg_svdf_f32_params *p, const float *input, float *state,
                                const float *feature_weight, const float *time_weight,
                                const float *bias, float *output)
{
    float *memory = state;

    for (int32_t n = 0; n < p->batches; n++) {
        const float *feature = feature_weight;
        const float *time = time_weight;
        for (int32_t u = 0; u < p->units; u++) {
            float sum = 0.0F;
            for (int32_t r = 0; r < p->rank; r++) {
                const float latest = mg_svdf_f32_latest(p, input, feature);
                sum += mg_svdf_f32_remember(p, memory, time, latest);
                feature += p->features;
                time += p->memory;
                memory += p->memory;
            }
            sum += (bias != NULL) ? bias[u] : 0.0F;
            output[n * p->units + u] = mg_clamp_f32(sum, p->activation_min, p->activation_max);
        }
        input += p->features;
    }
}

#ifdef MG_SVDF_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_svdf_f32, (p, input, state, feature_weight, time_weight, bias, output),
               const mg_svdf_f32_params *p, const float *input, float *state,
               const float *feature_weight, const float *time_weight, const float *bias,
               float *output)
#endif

#endif
