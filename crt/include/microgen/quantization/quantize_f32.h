/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of float32 to integers. */
#ifndef MICROGEN_QUANTIZE_F32_H
#define MICROGEN_QUANTIZE_F32_H

#include "microgen/quantization/dequantize_f32.h"
#include "microgen/requantization/in_float.h"
#include "microgen/requantization/stored_int.h"
#include "microgen/unary/unary.h"

typedef struct {
    int32_t size;         /* elements */
    int32_t output_bytes; /* 1 or 2: int8 or int16 */
    int32_t zero_point;   /* of the output: -128 to 127; 0 for int16 */
    float scale;          /* of the output: positive, finite, not denormal */
} mg_quantize_f32_params;

/* Computes output [size] = round(input [size] / scale) + zero_point, saturated. Rounding is to
 * nearest, ties away from zero. NaN becomes the least value. Input and output must not overlap. */
MG_DECLARE_UNARY(mg_quantize_f32, float, void);

/* x, which is inside int32, rounded to nearest, ties away from zero. */
MG_INLINE int32_t mg_nearest_int(float x)
{
    const int32_t whole = (int32_t)x;
    const float rest = x - (float)whole; /* exact; 0 if all floats near x are integers */
    if (rest >= 0.5F) {
        return whole + 1;
    }
    return (rest <= -0.5F) ? whole - 1 : whole;
}

/* x rounded to nearest, ties away from zero, and clamped to [-2^20, 2^20]; -2^20 for NaN. */
MG_INLINE int32_t mg_quantize_f32_round(float x)
{
    const float limit = 1048576.0F;

    if (!(x > -limit)) {
        return -1048576;
    }
    if (x > limit) {
        return 1048576;
    }
    return mg_nearest_int(x);
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

/* Zero point and scale are those of the output; the scale is not denormal. */
typedef mg_dequantize_f32_u8_params mg_quantize_f32_u8_params;

MG_INLINE uint8_t mg_quantize_f32_u8_element(const mg_quantize_f32_u8_params *p, float x)
{
    int32_t stored = mg_quantize_f32_round(x / p->scale) + p->zero_point;
    if (stored > (int32_t)UINT8_MAX) {
        stored = UINT8_MAX;
    }
    if (stored < 0) {
        stored = 0;
    }
    return (uint8_t)stored;
}

/* Computes output [size] = round(input [size] / scale) + zero_point, saturated. Rounding is to
 * nearest, ties away from zero. NaN becomes 0. Input and output must not overlap. */
MG_EACH_ELEMENT(mg_quantize_f32_u8, float, uint8_t)

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
    return mg_nearest_int(x);
}

MG_INLINE int32_t mg_quantize_f32_s32_element(const mg_quantize_f32_s32_params *p, float x)
{
    return mg_round_f32_s32(x / p->scale);
}

/* Computes output [size] = round(input [size] / scale), saturated. Rounding is to nearest, ties
 * away from zero. NaN becomes the least value. Input and output must not overlap. */
MG_EACH_ELEMENT(mg_quantize_f32_s32, float, int32_t)

typedef struct {
    int32_t size;         /* elements */
    int32_t output_bytes; /* 1, 2 or 4 */
    int32_t least;        /* of the output's type, which may be unsigned unless it has 4 bytes */
    int32_t greatest;     /* the same */
    int32_t zero_point;   /* of the output; 0 if it has 4 bytes */
    float scale;          /* of the output: positive, finite, not denormal */
} mg_quantize_even_f32_params;

/* Computes output [size] = round(input [size] / scale) + zero_point, saturated. Rounding is to
 * nearest, ties to even. NaN becomes the least value. Input and output must not overlap. */
MG_DECLARE_UNARY(mg_quantize_even_f32, float, void);

MG_INLINE void mg_quantize_even_f32_body(const mg_quantize_even_f32_params *p, const float *input,
                                         void *output)
{
    const int32_t largest = mg_greatest_int(p->output_bytes);

    for (int32_t i = 0; i < p->size; i++) {
        const int32_t stored =
            mg_stored_to_even(input[i] / p->scale, p->zero_point, p->least, p->greatest);
        /* An unsigned value has the bits of a signed one. */
        mg_store_int(output, i, p->output_bytes,
                     (stored > largest) ? stored - largest - largest - 2 : stored);
    }
}

#ifdef MG_QUANTIZE_F32_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_quantize_f32, float, void)
MG_DEFINE_UNARY(mg_quantize_f32_u8, float, uint8_t)
MG_DEFINE_UNARY(mg_quantize_f32_s32, float, int32_t)
MG_DEFINE_UNARY(mg_quantize_even_f32, float, void)
#endif

#endif
