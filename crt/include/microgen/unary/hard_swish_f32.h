/* SPDX-License-Identifier: Apache-2.0 */
/* Hard swish of float32 values. */
#ifndef MICROGEN_HARD_SWISH_F32_H
#define MICROGEN_HARD_SWISH_F32_H

#include "microgen/arithmetic/clamp_f32.h"
#include "microgen/unary/unary.h"

/* x * relu6(x + 3) / 6. */
MG_INLINE float mg_hard_swish_f32_element(float x)
{
    return x * mg_clamp_f32(x + 3.0F, 0.0F, 6.0F) / 6.0F;
}

MG_UNARY_KERNEL(mg_hard_swish_f32, float, mg_hard_swish_f32_element)

#ifdef MG_HARD_SWISH_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_hard_swish_f32, float, float)
#endif

#endif
