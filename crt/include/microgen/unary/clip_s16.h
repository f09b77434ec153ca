/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions of the ReLU family on int16: a change of scale, then a clamp. */
#ifndef MICROGEN_CLIP_S16_H
#define MICROGEN_CLIP_S16_H

#include "microgen/arithmetic/clamp_s16.h"
#include "microgen/requantization/requantize.h"
#include "microgen/unary/unary.h"

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

/* Requantizes input [size] with double rounding and clamps it into output [size].
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ELEMENT(mg_clip_s16, int16_t, int16_t)

#ifdef MG_CLIP_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_clip_s16, int16_t, int16_t)
#endif

#endif
