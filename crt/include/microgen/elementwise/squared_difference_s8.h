/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise squared difference of int8 tensors with broadcasting. */
#ifndef MICROGEN_SQUARED_DIFFERENCE_S8_H
#define MICROGEN_SQUARED_DIFFERENCE_S8_H

#include "microgen/elementwise/add_s8.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/elementwise/scaled_sum.h"

typedef mg_scaled_sum_params
    mg_squared_difference_s8_params; /* those of an addition; left_shift is at most 7 */

/* Computes (lhs - rhs)^2 into output [shape[0]][shape[1]][shape[2]][shape[3]]. Each operand is
 * requantized from its own scale, and the square to the output's scale, with double rounding.
 *
 * Output may be the same buffer as an operand that has the output's shape; otherwise it must not
 * overlap an operand. */
MG_DECLARE_BINARY(mg_squared_difference_s8, int8_t, int8_t);

/* The stored output value of the squared difference of two stored values. */
MG_INLINE int8_t mg_squared_difference_s8_element(const mg_squared_difference_s8_params *p,
                                                  int8_t lhs, int8_t rhs)
{
    const int32_t difference = mg_scaled_left(p, lhs) - mg_scaled_right(p, rhs);
    return mg_stored_sum_s8(p, difference * difference);
}

MG_INLINE void mg_squared_difference_s8_body(const mg_squared_difference_s8_params *p,
                                             const int8_t *lhs, const int8_t *rhs, int8_t *output)
{
    MG_BROADCAST(mg_squared_difference_s8_element, p, lhs, rhs, output);
}

#ifdef MG_SQUARED_DIFFERENCE_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_BINARY(mg_squared_difference_s8, int8_t, int8_t)
#endif

#endif
