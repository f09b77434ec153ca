/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the scale and zero point of uint8 or int8 values, and their type. */
#ifndef MICROGEN_REQUANTIZE_U8_H
#define MICROGEN_REQUANTIZE_U8_H

#include "microgen/requantization/requantize.h"

typedef struct {
    int32_t size;               /* elements */
    int32_t input_is_unsigned;  /* 1: uint8; 0: int8 */
    int32_t output_is_unsigned; /* the same */
    int32_t input_offset;       /* minus the input's zero point: -255 to 128 */
    int32_t output_offset;      /* the output's zero point: -128 to 255 */
    int32_t multiplier;         /* Q31, input scale / output scale */
    int32_t shift;              /* as microgen/requantization/requantize.h says */
} mg_requantize_u8_params;

/* Requantizes input [size] with double rounding and stores it, saturated, in output [size].
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_DECLARE_UNARY(mg_requantize_u8, void, void);

MG_INLINE int32_t mg_requantize_u8_load(const void *values, int32_t index, int32_t is_unsigned)
{
    return (is_unsigned != 0) ? ((const uint8_t *)values)[index] : ((const int8_t *)values)[index];
}

MG_INLINE void mg_requantize_u8_body(const mg_requantize_u8_params *p, const void *input,
                                     void *output)
{
    const int32_t low = (p->output_is_unsigned != 0) ? 0 : INT8_MIN;

    for (int32_t i = 0; i < p->size; i++) {
        const int32_t value = mg_requantize_u8_load(input, i, p->input_is_unsigned);
        const int32_t scaled = mg_requantize(value + p->input_offset, p->multiplier, p->shift);
        ((uint8_t *)output)[i] = (uint8_t)mg_offset_and_clamp_wide(scaled, p->output_offset, low,
                                                                   low + (int32_t)UINT8_MAX);
    }
}

#ifdef MG_REQUANTIZE_U8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_requantize_u8, void, void)
#endif

#endif
