/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the scale and zero point of int8 values. */
#ifndef MICROGEN_REQUANTIZE_S8_H
#define MICROGEN_REQUANTIZE_S8_H

#include "microgen/requantization/requantize.h"
#include "microgen/unary/unary.h"

typedef struct {
    int32_t size;          /* elements */
    int32_t input_offset;  /* minus the input's zero point: -127 to 128 */
    int32_t output_offset; /* the output's zero point: -128 to 127 */
    int32_t multiplier;    /* Q31, input scale / output scale */
    int32_t shift;         /* as microgen/requantization/requantize.h says */
} mg_requantize_s8_params;

MG_INLINE int8_t mg_requantize_s8_element(const mg_requantize_s8_params *p, int8_t x)
{
    const int32_t value = mg_requantize(x + p->input_offset, p->multiplier, p->shift);
    return mg_offset_and_clamp(value, p->output_offset, INT8_MIN, INT8_MAX);
}

/* Requantizes input [size] with double rounding and stores it, saturated, in output [size].
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ELEMENT(mg_requantize_s8, int8_t, int8_t)

#ifdef MG_REQUANTIZE_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_requantize_s8, int8_t, int8_t)
#endif

#endif
