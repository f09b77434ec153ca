/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions of the ReLU family: a clamp, for integers after a change of scale. Output
 * may be the same buffer as the input; otherwise they must not overlap. */
#ifndef MICROGEN_CLIP_H
#define MICROGEN_CLIP_H

#include "microgen/arithmetic/clamp.h"
#include "microgen/requantization/requantize.h"
#include "microgen/unary/unary.h"

typedef struct {
    int32_t size;         /* elements */
    float activation_min; /* finite */
    float activation_max; /* finite, activation_min or more */
} mg_clip_f32_params;

MG_INLINE float mg_clip_f32_element(const mg_clip_f32_params *p, float x)
{
    return mg_clamp_f32(x, p->activation_min, p->activation_max);
}

/* Clamps input [size] into output [size]; NaN remains NaN. */
MG_EACH_ELEMENT(mg_clip_f32, float, float)

typedef struct {
    int32_t size;           /* elements */
    int32_t multiplier;     /* Q31, input scale / output scale; 0: equal scales, clamp only */
    int32_t shift;          /* as microgen/requantization/requantize.h says */
    int32_t activation_min; /* 0 or less, within int16 */
    int32_t activation_max; /* 0 or more, within int16 */
} mg_clip_s16_params;

MG_INLINE int16_t mg_clip_s16_element(const mg_clip_s16_params *p, int16_t x)
{
    const int32_t scaled =
        (p->multiplier != 0) ? mg_requantize(x, p->multiplier, p->shift) : (int32_t)x;
    return mg_clamp_s16(scaled, p->activation_min, p->activation_max);
}

/* Requantizes input [size] with double rounding and clamps it into output [size]. */
MG_EACH_ELEMENT(mg_clip_s16, int16_t, int16_t)

typedef struct {
    int32_t size;           /* elements */
    int32_t input_offset;   /* minus the input's zero point: -127 to 128 */
    int32_t output_offset;  /* the output's zero point: -128 to 127 */
    int32_t multiplier;     /* Q31, input scale / output scale; 0: equal quantization, clamp only */
    int32_t shift;          /* as microgen/requantization/requantize.h says */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* activation_min to 127 */
} mg_clip_s8_params;

/* Requantizes input [size] with double rounding and clamps it into output [size]. */
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

#ifdef MG_CLIP_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_clip_f32, float, float)
MG_DEFINE_UNARY(mg_clip_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_clip_s8, int8_t, int8_t)
#endif

#endif
