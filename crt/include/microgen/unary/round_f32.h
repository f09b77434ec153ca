/* SPDX-License-Identifier: Apache-2.0 */
/* Values rounded to the nearest integers. */
#ifndef MICROGEN_ROUND_F32_H
#define MICROGEN_ROUND_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

/* mg_round_f32 rounds each value to the nearest integer, ties to even. microgen/unary/unary.h
 * describes its arguments. */
MG_UNARY_KERNEL(mg_round_f32, float, mg_f32_round_half_even)

#ifdef MG_ROUND_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_round_f32, float, float)
#endif

#endif
