/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions of the ReLU family on int8: a change of scale, then a clamp. */
#ifndef MICROGEN_CLIP_S8_H
#define MICROGEN_CLIP_S8_H

#include "microgen/requantization/requantize.h"

typedef struct {
    int32_t size;           /* elements */
    int32_t input_offset;   /* minus the input's zero point: -127 to 128 */
    int32_t output_offset;  /* the output's zero point: -128 to 127 */
    int32_t multiplier;     /* Q31, input scale / output scale; 0: equal quantization, clamp only */
    int32_t shift;          /* as microgen/requantization/requantize.h says */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* activation_min to 127 */
} mg_clip_s8_params;

/* Requantizes input [size] with double rounding and clamps it into output [size].
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_DECLARE_UNARY(mg_clip_s8, int8_t, int8_t);

MG_INLINE void mg_clip_s8_body(const mg_clip_s8_params *p, const int8_t *input, int8_t *output)
{
    for (int32_t i = 0; i < p->size; i++) {
        int32_t value = input[i] + p->input_offset;
        if (p->multiplier != 0) {
            value = mg_requantize(value, p->multiplier, p->shift);
        }
        output[i] =
            mg_offset_and_clamp(value, p->output_offset, p->activation_min, p->activation_max);
    }
}

#ifdef MG_CLIP_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_clip_s8, int8_t, int8_t)
#endif

#endif
