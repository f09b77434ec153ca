/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise subtraction of int8 tensors with broadcasting. */
#ifndef MICROGEN_SUBTRACT_S8_H
#define MICROGEN_SUBTRACT_S8_H

#include "microgen/elementwise/add_s8.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/elementwise/scaled_sum.h"

typedef mg_scaled_sum_params mg_subtract_s8_params; /* the parameters of an addition */

/* The stored output value of the difference of two stored values. */
MG_INLINE int8_t mg_subtract_s8_element(const mg_subtract_s8_params *p, int8_t lhs, int8_t rhs)
{
    return mg_stored_sum_s8(p, mg_scaled_left(p, lhs) - mg_scaled_right(p, rhs));
}

/* Subtracts rhs from lhs into output [shape[0]][shape[1]][shape[2]][shape[3]]. Each operand is
 * requantized from its own scale, and the difference to the output's scale, with double rounding.
 *
 * Output may be the same buffer as an operand that has the output's shape; otherwise it must not
 * overlap an operand. */
MG_EACH_PAIR(mg_subtract_s8, int8_t, int8_t, int8_t)

#ifdef MG_SUBTRACT_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_BINARY(mg_subtract_s8, int8_t, int8_t)
#endif

#endif
