/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products in float32, for four output channels at a time, so that a value is loaded once
 * for four products. Each sum adds its products in order. */
#ifndef MICROGEN_SUMS_F32_H
#define MICROGEN_SUMS_F32_H

#include <stddef.h>

#include "microgen/arithmetic/clamp.h"

typedef struct {
    float a;
    float b;
    float c;
    float d;
} mg_sums_f32;

/* sum + the products of n values with n weights. */
MG_INLINE float mg_dot_f32(float sum, const float *values, const float *weight, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        sum += values[i] * weight[i];
    }
    return sum;
}

/* The same for four channels, whose weights are `step` apart. */
MG_INLINE mg_sums_f32 mg_dot_4_f32(mg_sums_f32 sums, const float *values, const float *weight,
                                   int32_t step, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const float value = values[i];
        sums.a += value * weight[i];
        sums.b += value * weight[i + step];
        sums.c += value * weight[i + 2 * step];
        sums.d += value * weight[i + 3 * step];
    }
    return sums;
}

/* How sums of products become outputs. */
typedef struct {
    const float *bias; /* per channel, or NULL */
    float activation_min;
    float activation_max;
} mg_finish_f32;

/* The output of channel c. */
MG_INLINE float mg_finished_f32(const mg_finish_f32 *f, int32_t c, float sum)
{
    const float total = sum + ((f->bias != NULL) ? f->bias[c] : 0.0F);
    return mg_clamp_f32(total, f->activation_min, f->activation_max);
}

/* Stores the outputs of channels c to c + 3. */
MG_INLINE void mg_store_4_f32(const mg_finish_f32 *finish, int32_t c, mg_sums_f32 sums,
                              float *output)
{
    output[c] = mg_finished_f32(finish, c, sums.a);
    output[c + 1] = mg_finished_f32(finish, c + 1, sums.b);
    output[c + 2] = mg_finished_f32(finish, c + 2, sums.c);
    output[c + 3] = mg_finished_f32(finish, c + 3, sums.d);
}

#endif
