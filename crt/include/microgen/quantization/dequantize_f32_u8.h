/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of uint8 to float32. */
#ifndef MICROGEN_DEQUANTIZE_F32_U8_H
#define MICROGEN_DEQUANTIZE_F32_U8_H

#include "microgen/unary/unary.h"

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

#ifdef MG_DEQUANTIZE_F32_U8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_dequantize_f32_u8, uint8_t, float)
#endif

#endif
