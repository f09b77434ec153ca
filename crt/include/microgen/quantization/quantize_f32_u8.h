/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of float32 to uint8. */
#ifndef MICROGEN_QUANTIZE_F32_U8_H
#define MICROGEN_QUANTIZE_F32_U8_H

#include "microgen/quantization/dequantize_f32_u8.h"
#include "microgen/quantization/quantize_f32.h"
#include "microgen/unary/unary.h"

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

#ifdef MG_QUANTIZE_F32_U8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_quantize_f32_u8, float, uint8_t)
#endif

#endif
