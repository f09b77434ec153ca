/* SPDX-License-Identifier: Apache-2.0 */
/* The natural logarithm of float32 values. */
#ifndef MICROGEN_LOG_F32_H
#define MICROGEN_LOG_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

/* mg_log_f32 computes log(x) of each value. microgen/unary/unary.h describes its arguments. */
MG_UNARY_KERNEL(mg_log_f32, float, mg_f32_log)

#ifdef MG_LOG_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_log_f32, float, float)
#endif

#endif
