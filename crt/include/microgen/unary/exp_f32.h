/* SPDX-License-Identifier: Apache-2.0 */
/* The exponential function of float32 values. */
#ifndef MICROGEN_EXP_F32_H
#define MICROGEN_EXP_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

/* mg_exp_f32 computes exp(x) of each value. microgen/unary/unary.h describes its arguments. */
MG_UNARY_KERNEL(mg_exp_f32, float, mg_f32_exp)

#ifdef MG_EXP_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_exp_f32, float, float)
#endif

#endif
