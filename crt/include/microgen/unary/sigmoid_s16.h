/* SPDX-License-Identifier: Apache-2.0 */
/* The logistic function of int16 values, by a table. */
#ifndef MICROGEN_SIGMOID_S16_H
#define MICROGEN_SIGMOID_S16_H

#include "microgen/requantization/requantize.h"
#include "microgen/unary/sigmoid_table_s16.h"
#include "microgen/unary/unary.h"

/* The scale is as mg_sigmoid_argument says. */
typedef mg_unary_scaled_params mg_sigmoid_s16_params;

MG_INLINE int16_t mg_sigmoid_s16_element(const mg_sigmoid_s16_params *p, int16_t x)
{
    const int32_t steps = mg_sigmoid_argument(x, p->multiplier, p->shift);
    const int32_t magnitude = (steps < 0) ? -steps : steps;
    const int32_t upper = mg_sigmoid_interpolated(magnitude, 9, INT16_MAX << 10); /* Q0.25 */
    const int32_t result = (steps >= 0) ? upper : ((int32_t)1 << 25) - upper - 1;
    return (int16_t)mg_shift_right(result + (1 << 9), 10);
}

/* Computes 1 / (1 + exp(-x)) for each value of input [size] into output [size], whose scale is
 * 1/32768.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ELEMENT(mg_sigmoid_s16, int16_t, int16_t)

#ifdef MG_SIGMOID_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_sigmoid_s16, int16_t, int16_t)
#endif

#endif
