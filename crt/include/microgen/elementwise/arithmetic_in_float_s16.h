/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, differences and products of the numbers that int16 tensors store, in float32, as ONNX's
 * quantized operators specify them. The Python twin is microgen/graph/arithmetic/in_float32.py. */
#ifndef MICROGEN_ARITHMETIC_IN_FLOAT_S16_H
#define MICROGEN_ARITHMETIC_IN_FLOAT_S16_H

#include "microgen/elementwise/arithmetic_in_float_s8.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero points are 0. The activation is from -32768 to 32767. */
MG_ELEMENTWISE(mg_add_in_float_s16, mg_in_float_params, int16_t, int16_t,
               mg_in_float_stored(p, mg_in_float_left(p, lhs) + mg_in_float_right(p, rhs)))
MG_ELEMENTWISE(mg_subtract_in_float_s16, mg_in_float_params, int16_t, int16_t,
               mg_in_float_stored(p, mg_in_float_left(p, lhs) - mg_in_float_right(p, rhs)))
MG_ELEMENTWISE(mg_multiply_in_float_s16, mg_in_float_params, int16_t, int16_t,
               mg_in_float_stored(p, mg_in_float_left(p, lhs) * mg_in_float_right(p, rhs)))

#ifdef MG_ARITHMETIC_IN_FLOAT_S16_IMPLEMENTATION /* the out-of-line forms */
MG_ELEMENTWISE_SHARED(mg_add_in_float_s16, int16_t, int16_t)
MG_ELEMENTWISE_SHARED(mg_subtract_in_float_s16, int16_t, int16_t)
MG_ELEMENTWISE_SHARED(mg_multiply_in_float_s16, int16_t, int16_t)
#endif

#ifdef __cplusplus
}
#endif

#endif
