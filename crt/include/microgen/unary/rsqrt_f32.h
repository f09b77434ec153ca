/* SPDX-License-Identifier: Apache-2.0 */
/* One over the square root of float32 values. */
#ifndef MICROGEN_RSQRT_F32_H
#define MICROGEN_RSQRT_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

/* mg_rsqrt_f32 computes 1 / sqrt(x) of each value. microgen/unary/unary.h describes its arguments.
 */
MG_UNARY_KERNEL(mg_rsqrt_f32, float, mg_f32_rsqrt)

#ifdef MG_RSQRT_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_rsqrt_f32, float, float)
#endif

#endif
