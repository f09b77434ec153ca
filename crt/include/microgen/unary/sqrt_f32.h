/* SPDX-License-Identifier: Apache-2.0 */
/* The square root of float32 values. */
#ifndef MICROGEN_SQRT_F32_H
#define MICROGEN_SQRT_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

/* mg_sqrt_f32 computes sqrt(x) of each value. microgen/unary/unary.h describes its arguments. */
MG_UNARY_KERNEL(mg_sqrt_f32, float, mg_f32_sqrt)

#ifdef MG_SQRT_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_sqrt_f32, float, float)
#endif

#endif
