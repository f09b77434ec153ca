/* SPDX-License-Identifier: Apache-2.0 */
/* The magnitude of float32 values. */
#ifndef MICROGEN_ABS_F32_H
#define MICROGEN_ABS_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

/* mg_abs_f32 computes |x| of each value. microgen/unary/unary.h describes its arguments. */
MG_UNARY_KERNEL(mg_abs_f32, float, mg_f32_abs)

#ifdef MG_ABS_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_abs_f32, float, float)
#endif

#endif
