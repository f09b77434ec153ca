/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and means of int8 over any axes. */
#ifndef MICROGEN_REDUCE_SUM_S8_H
#define MICROGEN_REDUCE_SUM_S8_H

#include "microgen/reductions/reduction.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    int32_t shape[6];      /* as microgen/reductions/reduction.h says */
    int32_t bias;          /* minus the input's zero point times the number of values summed */
    int32_t multiplier;    /* Q31, input scale / output scale; for a mean, also / count */
    int32_t shift;         /* as microgen/requantization/requantize.h says */
    int32_t output_offset; /* the output's zero point */
    int32_t is_unsigned;   /* 1: input and output are read as uint8, as LiteRT does for sums */
} mg_reduce_sum_s8_params;

MG_INLINE int32_t mg_reduce_sum_s8_step(const mg_reduce_sum_s8_params *p, int32_t sum, int8_t value)
{
    return sum + ((p->is_unsigned != 0) ? (int32_t)(uint8_t)value : (int32_t)value);
}

/* The int8 with the bits of a uint8. */
MG_INLINE int8_t mg_reduce_sum_s8_bits(int32_t value)
{
    return (int8_t)((value > INT8_MAX) ? value - 256 : value);
}

MG_INLINE int8_t mg_reduce_sum_s8_result(const mg_reduce_sum_s8_params *p, int32_t sum)
{
    const int32_t low = ((p->is_unsigned != 0) ? 0 : INT8_MIN) - p->output_offset;
    const int32_t high = ((p->is_unsigned != 0) ? (int32_t)UINT8_MAX : INT8_MAX) - p->output_offset;
    int32_t stored = mg_requantize(sum + p->bias, p->multiplier, p->shift);

    stored = (stored < low) ? low : stored;
    stored = (stored > high) ? high : stored;
    return mg_reduce_sum_s8_bits(stored + p->output_offset);
}

/* Sums input [shape] over its reduced axes, requantizes the sums with double rounding, and stores
 * them, saturated, in output [kept axes]. Output must not overlap the input. Sums must fit int32,
 * bias included. */
MG_REDUCTION(mg_reduce_sum_s8, int8_t, int32_t, int8_t, 0)

#ifdef MG_REDUCE_SUM_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_reduce_sum_s8, int8_t, int8_t)
#endif

#endif
