/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of int8, uint8, int16 or int32 to float32. */
#ifndef MICROGEN_DEQUANTIZE_F32_H
#define MICROGEN_DEQUANTIZE_F32_H

#include "microgen/requantization/stored_int.h"
#include "microgen/unary/unary.h"

typedef struct {
    int32_t size;        /* elements */
    int32_t input_bytes; /* 1, 2 or 4: int8, int16 or int32 */
    int32_t zero_point;  /* of the input: -128 to 127; 0 unless it is int8 */
    float scale;         /* of the input: positive, finite */
} mg_dequantize_f32_params;

/* Computes output [size] = (input [size] - zero_point) * scale. Input and output must not
 * overlap. */
MG_DECLARE_UNARY(mg_dequantize_f32, void, float);

MG_INLINE void mg_dequantize_f32_body(const mg_dequantize_f32_params *p, const void *input,
                                      float *output)
{
    for (int32_t i = 0; i < p->size; i++) {
        output[i] = (float)(mg_load_int(input, i, p->input_bytes) - p->zero_point) * p->scale;
    }
}

typedef struct {
    int32_t size;       /* elements */
    int32_t zero_point; /* of the input: 0 to 255 */
    float scale;        /* of the input: positive, finite */
} mg_dequantize_f32_u8_params;

MG_INLINE float mg_dequantize_f32_u8_element(const mg_dequantize_f32_u8_params *p, uint8_t x)
{
    return (float)(x - p->zero_point) * p->scale;
}

/* Computes output [size] = (input [size] - zero_point) * scale. Input and output must not
 * overlap. */
MG_EACH_ELEMENT(mg_dequantize_f32_u8, uint8_t, float)

#ifdef MG_DEQUANTIZE_F32_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_dequantize_f32, void, float)
MG_DEFINE_UNARY(mg_dequantize_f32_u8, uint8_t, float)
#endif

#endif
