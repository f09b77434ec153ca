/* SPDX-License-Identifier: Apache-2.0 */
/* The exponential linear unit of float32 values. */
#ifndef MICROGEN_ELU_F32_H
#define MICROGEN_ELU_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

/* x if x >= 0, else exp(x) - 1. */
MG_INLINE float mg_elu_f32_element(float x)
{
    return (x < 0.0F) ? mg_f32_expm1(x) : x;
}

MG_UNARY_KERNEL(mg_elu_f32, float, mg_elu_f32_element)

#ifdef MG_ELU_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_elu_f32, float, float)
#endif

#endif
