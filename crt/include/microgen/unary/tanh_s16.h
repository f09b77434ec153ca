/* SPDX-License-Identifier: Apache-2.0 */
/* The hyperbolic tangent of int16 values, by the table of the sigmoid function. */
#ifndef MICROGEN_TANH_S16_H
#define MICROGEN_TANH_S16_H

#include "microgen/requantization/requantize.h"
#include "microgen/unary/sigmoid_table_s16.h"
#include "microgen/unary/unary.h"

/* The scale is as mg_sigmoid_argument says. */
typedef mg_unary_scaled_params mg_tanh_s16_params;

MG_INLINE int16_t mg_tanh_s16_element(const mg_tanh_s16_params *p, int16_t x)
{
    const int32_t steps = mg_sigmoid_argument(x, p->multiplier, p->shift);
    const int32_t magnitude = (steps < 0) ? -steps : steps;
    const int32_t sigmoid = mg_sigmoid_interpolated(magnitude, 8, UINT16_MAX << 8); /* Q0.24 */
    const int32_t upper = sigmoid - ((int32_t)1 << 23);
    const int32_t result = (steps >= 0) ? upper : -upper - 1;
    return (int16_t)mg_shift_right(result + (1 << 7), 8);
}

/* Computes tanh(x) = 2 sigmoid(2 x) - 1 for each value of input [size] into output [size], whose
 * scale is 1/32768.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ELEMENT(mg_tanh_s16, int16_t, int16_t)

#ifdef MG_TANH_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_tanh_s16, int16_t, int16_t)
#endif

#endif
