/* SPDX-License-Identifier: Apache-2.0 */
/* Leaky ReLU of int16 values. */
#ifndef MICROGEN_LEAKY_RELU_S16_H
#define MICROGEN_LEAKY_RELU_S16_H

#include "microgen/arithmetic/clamp_s16.h"
#include "microgen/requantization/requantize.h"
#include "microgen/unary/unary.h"

typedef struct {
    int32_t size;             /* elements */
    int32_t multiplier;       /* Q31, input scale / output scale */
    int32_t shift;            /* as microgen/requantization/requantize.h says */
    int32_t alpha_multiplier; /* Q31, alpha * input scale / output scale, of either sign */
    int32_t alpha_shift;
} mg_leaky_relu_s16_params;

MG_INLINE int16_t mg_leaky_relu_s16_element(const mg_leaky_relu_s16_params *p, int16_t x)
{
    const int32_t scaled = (x >= 0) ? mg_requantize(x, p->multiplier, p->shift)
                                    : mg_requantize(x, p->alpha_multiplier, p->alpha_shift);
    return mg_clamp_s16(scaled, INT16_MIN, INT16_MAX);
}

/* Requantizes input [size] into output [size] with double rounding. Values below 0 are also
 * multiplied by alpha, in the same step. Results are saturated.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ELEMENT(mg_leaky_relu_s16, int16_t, int16_t)

#ifdef MG_LEAKY_RELU_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_leaky_relu_s16, int16_t, int16_t)
#endif

#endif
