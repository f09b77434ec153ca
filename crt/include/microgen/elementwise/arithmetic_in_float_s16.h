/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, differences and products of the numbers that int16 tensors store, in float32, as ONNX's
 * quantized operators specify them. The Python twin is microgen/graph/arithmetic/in_float32.py. */
#ifndef MICROGEN_ARITHMETIC_IN_FLOAT_S16_H
#define MICROGEN_ARITHMETIC_IN_FLOAT_S16_H

#include "microgen/elementwise/arithmetic_in_float_s8.h"

#ifdef MG_ARITHMETIC_IN_FLOAT_S16_IMPLEMENTATION /* with the out-of-line forms */
#define MG_ARITHMETIC_IN_FLOAT_S16_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_ARITHMETIC_IN_FLOAT_S16_EACH MG_ELEMENTWISE
#endif

/* Zero points are 0. The activation is from -32768 to 32767. */
MG_ARITHMETIC_IN_FLOAT_S16_EACH(mg_add_in_float_s16, mg_in_float_params, int16_t, int16_t,
                                mg_in_float_stored(p, mg_in_float_left(p, lhs) +
                                                          mg_in_float_right(p, rhs)))
MG_ARITHMETIC_IN_FLOAT_S16_EACH(mg_subtract_in_float_s16, mg_in_float_params, int16_t, int16_t,
                                mg_in_float_stored(p, mg_in_float_left(p, lhs) -
                                                          mg_in_float_right(p, rhs)))
MG_ARITHMETIC_IN_FLOAT_S16_EACH(mg_multiply_in_float_s16, mg_in_float_params, int16_t, int16_t,
                                mg_in_float_stored(p, mg_in_float_left(p, lhs) *
                                                          mg_in_float_right(p, rhs)))

#endif
