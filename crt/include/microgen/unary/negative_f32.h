/* SPDX-License-Identifier: Apache-2.0 */
/* Negation of float32 values. */
#ifndef MICROGEN_NEGATIVE_F32_H
#define MICROGEN_NEGATIVE_F32_H

#include "microgen/unary/unary.h"

MG_INLINE float mg_negative_f32_element(float x)
{
    return -x;
}

MG_UNARY_KERNEL(mg_negative_f32, float, mg_negative_f32_element)

#ifdef MG_NEGATIVE_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_negative_f32, float, float)
#endif

#endif
