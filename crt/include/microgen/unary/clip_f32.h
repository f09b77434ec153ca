/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions of the ReLU family on float32: a clamp. */
#ifndef MICROGEN_CLIP_F32_H
#define MICROGEN_CLIP_F32_H

#include "microgen/arithmetic/clamp_f32.h"
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

/* Clamps input [size] into output [size]; NaN remains NaN.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ELEMENT(mg_clip_f32, float, float)

#ifdef MG_CLIP_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_clip_f32, float, float)
#endif

#endif
