/* SPDX-License-Identifier: Apache-2.0 */
/* The cosine of float32 values. */
#ifndef MICROGEN_COS_F32_H
#define MICROGEN_COS_F32_H

#include "microgen/arithmetic/float_angles.h"
#include "microgen/unary/unary.h"

/* mg_cos_f32 computes cos(x) of each value. microgen/unary/unary.h describes its
 * arguments. */
MG_UNARY_KERNEL(mg_cos_f32, float, mg_f32_cos)

#ifdef MG_COS_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_cos_f32, float, float)
#endif

#endif
