/* SPDX-License-Identifier: Apache-2.0 */
/* Values rounded down to integers. */
#ifndef MICROGEN_FLOOR_F32_H
#define MICROGEN_FLOOR_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

/* mg_floor_f32 computes the greatest integer that is not above each value. microgen/unary/unary.h
 * describes its arguments. */
MG_UNARY_KERNEL(mg_floor_f32, float, mg_f32_floor)

#ifdef MG_FLOOR_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_floor_f32, float, float)
#endif

#endif
