/* SPDX-License-Identifier: Apache-2.0 */
/* The sine of float32 values. */
#ifndef MICROGEN_SIN_F32_H
#define MICROGEN_SIN_F32_H

#include "microgen/arithmetic/float_angles.h"
#include "microgen/unary/unary.h"

/* mg_sin_f32 computes sin(x) of each value. microgen/unary/unary.h describes its
 * arguments. */
MG_UNARY_KERNEL(mg_sin_f32, float, mg_f32_sin)

#ifdef MG_SIN_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_sin_f32, float, float)
#endif

#endif
