/* SPDX-License-Identifier: Apache-2.0 */
/* Values rounded up to integers. */
#ifndef MICROGEN_CEIL_F32_H
#define MICROGEN_CEIL_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

/* mg_ceil_f32 computes the least integer that is not below each value. microgen/unary/unary.h
 * describes its arguments. */
MG_UNARY_KERNEL(mg_ceil_f32, float, mg_f32_ceil)

#ifdef MG_CEIL_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_ceil_f32, float, float)
#endif

#endif
