/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the scale and zero point of int8 values. */
#ifndef MICROGEN_REQUANTIZE_S8_H
#define MICROGEN_REQUANTIZE_S8_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    int32_t size;          /* elements */
    int32_t input_offset;  /* minus the input's zero point: -127 to 128 */
    int32_t output_offset; /* the output's zero point: -128 to 127 */
    int32_t multiplier;    /* Q31, input scale / output scale */
    int32_t shift;         /* as microgen/requantization/requantize.h says */
} mg_requantize_s8_params;

/* Requantizes input [size] with double rounding and stores it, saturated, in output [size].
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_DECLARE_UNARY(mg_requantize_s8, int8_t, int8_t);

MG_INLINE void mg_requantize_s8_body(const mg_requantize_s8_params *p, const int8_t *input,
                                     int8_t *output)
{
    for (int32_t i = 0; i < p->size; i++) {
        const int32_t value = mg_requantize(input[i] + p->input_offset, p->multiplier, p->shift);
        output[i] = mg_offset_and_clamp(value, p->output_offset, INT8_MIN, INT8_MAX);
    }
}

#ifdef MG_REQUANTIZE_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_requantize_s8, int8_t, int8_t)
#endif

#endif
