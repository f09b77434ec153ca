/* SPDX-License-Identifier: Apache-2.0 */
/* The logistic function of float32 values. */
#ifndef MICROGEN_SIGMOID_F32_H
#define MICROGEN_SIGMOID_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

/* mg_sigmoid_f32 computes 1 / (1 + exp(-x)) of each value. microgen/unary/unary.h describes its
 * arguments. */
MG_UNARY_KERNEL(mg_sigmoid_f32, float, mg_f32_sigmoid)

#ifdef MG_SIGMOID_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_sigmoid_f32, float, float)
#endif

#endif
