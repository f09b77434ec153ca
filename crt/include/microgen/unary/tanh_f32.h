/* SPDX-License-Identifier: Apache-2.0 */
/* The hyperbolic tangent of float32 values. */
#ifndef MICROGEN_TANH_F32_H
#define MICROGEN_TANH_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

/* mg_tanh_f32 computes tanh(x) of each value. microgen/unary/unary.h describes its arguments. */
MG_UNARY_KERNEL(mg_tanh_f32, float, mg_f32_tanh)

#ifdef MG_TANH_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_tanh_f32, float, float)
#endif

#endif
