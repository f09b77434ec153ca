/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise subtraction of int8 tensors with broadcasting. */
#ifndef MICROGEN_SUBTRACT_S8_H
#define MICROGEN_SUBTRACT_S8_H

#include <stdint.h>

#include "microgen/elementwise/add_s8.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/elementwise/scaled_sum.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_scaled_sum_params mg_subtract_s8_params; /* the parameters of an addition */

/* Subtracts rhs from lhs into output [shape[0]][shape[1]][shape[2]][shape[3]]. Each operand is
 * requantized from its own scale, and the difference to the output's scale, with double rounding.
 *
 * Output may be the same buffer as an operand that has the output's shape; otherwise it must not
 * overlap an operand. */
void mg_subtract_s8(const mg_subtract_s8_params *p, const int8_t *lhs, const int8_t *rhs,
                    int8_t *output);

/* The stored output value of the difference of two stored values. */
MG_INLINE int8_t mg_subtract_s8_element(const mg_subtract_s8_params *p, int8_t lhs, int8_t rhs)
{
    return mg_stored_sum_s8(p, mg_scaled_left(p, lhs) - mg_scaled_right(p, rhs));
}

MG_INLINE void mg_subtract_s8_body(const mg_subtract_s8_params *p, const int8_t *lhs,
                                   const int8_t *rhs, int8_t *output)
{
    MG_BROADCAST(mg_subtract_s8_element, p, lhs, rhs, output);
}

#ifdef MG_SUBTRACT_S8_IMPLEMENTATION /* the out-of-line form */
void mg_subtract_s8(const mg_subtract_s8_params *p, const int8_t *lhs, const int8_t *rhs,
                    int8_t *output)
{
    mg_subtract_s8_body(p, lhs, rhs, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
