/* SPDX-License-Identifier: Apache-2.0 */
/* Parametric ReLU: negative values are multiplied by a tensor. Output may be the same buffer as an
 * operand of the same shape and type; otherwise it must not overlap an operand. */
#ifndef MICROGEN_PRELU_H
#define MICROGEN_PRELU_H

#include "microgen/arithmetic/clamp.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    /* lhs is the input, and rhs is alpha. */
    MG_BROADCAST_SHAPES
} mg_prelu_f32_params;

/* The output value of one input value and its alpha. */
MG_INLINE float mg_prelu_f32_element(const mg_prelu_f32_params *p, float input, float alpha)
{
    (void)p;
    return (input >= 0.0F) ? input : input * alpha;
}

/* Copies input [shape[0]][shape[1]][shape[2]][shape[3]] to output of the same shape and multiplies
 * values below 0 by alpha. NaN remains NaN. */
MG_EACH_PAIR(mg_prelu_f32, float, float, float)

typedef struct {
    /* lhs is the input, and rhs is alpha. */
    MG_BROADCAST_SHAPES
    int32_t lhs_offset;    /* minus the input's zero point: -127 to 128 */
    int32_t rhs_offset;    /* minus alpha's zero point */
    int32_t output_offset; /* the output's zero point: -128 to 127 */
    int32_t
        multiplier; /* from the input to the output, as microgen/requantization/requantize.h says */
    int32_t shift;  /* -31 to 30 */
    int32_t alpha_multiplier; /* from products of input and alpha to the output */
    int32_t alpha_shift;      /* -31 to 30 */
} mg_prelu_s8_params;

/* The stored output value of one stored input value and its alpha. */
MG_INLINE int8_t mg_prelu_s8_element(const mg_prelu_s8_params *p, int8_t input, int8_t alpha)
{
    const int32_t value = input + p->lhs_offset;
    int32_t scaled = 0;

    if (value >= 0) {
        scaled = mg_requantize(value, p->multiplier, p->shift);
    } else {
        scaled =
            mg_requantize(value * (alpha + p->rhs_offset), p->alpha_multiplier, p->alpha_shift);
    }
    return mg_offset_and_clamp(scaled, p->output_offset, INT8_MIN, INT8_MAX);
}

/* Requantizes input [shape[0]][shape[1]][shape[2]][shape[3]] into output of the same shape with
 * double rounding. Values below 0 are multiplied by alpha first. */
MG_EACH_PAIR(mg_prelu_s8, int8_t, int8_t, int8_t)

typedef struct {
    /* lhs is the input, and rhs is alpha. */
    MG_BROADCAST_SHAPES
    int32_t rhs_offset; /* minus alpha's zero point: -127 to 128 */
    int32_t
        multiplier; /* from the input to the output, as microgen/requantization/requantize.h says */
    int32_t shift;  /* -31 to 30 */
    int32_t alpha_multiplier; /* from products of input and alpha to the output */
    int32_t alpha_shift;      /* -31 to 30 */
} mg_prelu_s16_params;

/* The output value of one input value and its alpha. */
MG_INLINE int16_t mg_prelu_s16_element(const mg_prelu_s16_params *p, int16_t input, int8_t alpha)
{
    const int32_t scaled = (input >= 0) ? mg_requantize(input, p->multiplier, p->shift)
                                        : mg_requantize(input * (alpha + p->rhs_offset),
                                                        p->alpha_multiplier, p->alpha_shift);
    return mg_clamp_s16(scaled, INT16_MIN, INT16_MAX);
}

/* Requantizes input [shape[0]][shape[1]][shape[2]][shape[3]] into output of the same shape with
 * double rounding. Values below 0 are multiplied by alpha first. */
MG_EACH_PAIR(mg_prelu_s16, int16_t, int8_t, int16_t)

#ifdef MG_PRELU_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_prelu_f32, (p, input, alpha, output), const mg_prelu_f32_params *p,
               const float *input, const float *alpha, float *output)
MG_OUT_OF_LINE(mg_prelu_s8, (p, input, alpha, output), const mg_prelu_s8_params *p,
               const int8_t *input, const int8_t *alpha, int8_t *output)
MG_OUT_OF_LINE(mg_prelu_s16, (p, input, alpha, output), const mg_prelu_s16_params *p,
               const int16_t *input, const int8_t *alpha, int16_t *output)
#endif

#endif
