/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of float32 to int32 with a scale. */
#ifndef MICROGEN_QUANTIZE_F32_S32_H
#define MICROGEN_QUANTIZE_F32_S32_H

#include "microgen/unary/unary.h"

typedef struct {
    int32_t size; /* elements */
    float scale;  /* of the output: positive, finite, not denormal */
} mg_quantize_f32_s32_params;

/* x rounded to nearest, ties away from zero, saturated. */
MG_INLINE int32_t mg_round_f32_s32(float x)
{
    const float limit = 2147483648.0F;

    if (!(x >= -limit)) {
        return INT32_MIN;
    }
    if (x >= limit) {
        return INT32_MAX;
    }
    const int32_t whole = (int32_t)x;
    const float rest = x - (float)whole; /* exact; 0 if all floats near x are integers */
    if (rest >= 0.5F) {
        return whole + 1;
    }
    return (rest <= -0.5F) ? whole - 1 : whole;
}

MG_INLINE int32_t mg_quantize_f32_s32_element(const mg_quantize_f32_s32_params *p, float x)
{
    return mg_round_f32_s32(x / p->scale);
}

/* Computes output [size] = round(input [size] / scale), saturated. Rounding is to nearest, ties
 * away from zero. NaN becomes the least value. Input and output must not overlap. */
MG_EACH_ELEMENT(mg_quantize_f32_s32, float, int32_t)

#ifdef MG_QUANTIZE_F32_S32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_quantize_f32_s32, float, int32_t)
#endif

#endif
