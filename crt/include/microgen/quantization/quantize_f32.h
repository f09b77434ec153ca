/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of float32 to int8 or int16. */
#ifndef MICROGEN_QUANTIZE_F32_H
#define MICROGEN_QUANTIZE_F32_H

#include "microgen/requantization/stored_int.h"

typedef struct {
    int32_t size;         /* elements */
    int32_t output_bytes; /* 1 or 2: int8 or int16 */
    int32_t zero_point;   /* of the output: -128 to 127; 0 for int16 */
    float scale;          /* of the output: positive, finite, not denormal */
} mg_quantize_f32_params;

/* Computes output [size] = round(input [size] / scale) + zero_point, saturated. Rounding is to
 * nearest, ties away from zero. NaN becomes the least value. Input and output must not overlap. */
MG_DECLARE_UNARY(mg_quantize_f32, float, void);

/* x rounded to nearest, ties away from zero, and clamped to [-2^20, 2^20]; -2^20 for NaN. */
MG_INLINE int32_t mg_quantize_f32_round(float x)
{
    const float limit = 1048576.0F;
    int32_t whole;
    float rest;

    if (!(x > -limit)) {
        return -1048576;
    }
    if (x > limit) {
        return 1048576;
    }
    whole = (int32_t)x;
    rest = x - (float)whole;
    if (rest >= 0.5F) {
        return whole + 1;
    }
    return (rest <= -0.5F) ? whole - 1 : whole;
}

MG_INLINE void mg_quantize_f32_body(const mg_quantize_f32_params *p, const float *input,
                                    void *output)
{
    const int32_t high = mg_greatest_int(p->output_bytes);

    for (int32_t i = 0; i < p->size; i++) {
        int32_t stored = mg_quantize_f32_round(input[i] / p->scale) + p->zero_point;
        if (stored > high) {
            stored = high;
        }
        if (stored < -high - 1) {
            stored = -high - 1;
        }
        mg_store_int(output, i, p->output_bytes, stored);
    }
}

#ifdef MG_QUANTIZE_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_quantize_f32, float, void)
#endif

#endif
