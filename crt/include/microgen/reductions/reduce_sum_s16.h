/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and means of int16 over any axes. */
#ifndef MICROGEN_REDUCE_SUM_S16_H
#define MICROGEN_REDUCE_SUM_S16_H

#include "microgen/reductions/reduction.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    int32_t shape[6];   /* as microgen/reductions/reduction.h says */
    int32_t multiplier; /* Q31, input scale / output scale; for a mean, also / count */
    int32_t shift;      /* as microgen/requantization/requantize.h says */
} mg_reduce_sum_s16_params;

MG_INLINE int32_t mg_reduce_sum_s16_step(const mg_reduce_sum_s16_params *p, int32_t sum,
                                         int16_t value)
{
    (void)p;
    return sum + value;
}

MG_INLINE int16_t mg_reduce_sum_s16_result(const mg_reduce_sum_s16_params *p, int32_t sum)
{
    const int32_t scaled = mg_requantize(sum, p->multiplier, p->shift);
    const int32_t raised = (scaled < INT16_MIN) ? INT16_MIN : scaled;
    return (int16_t)((raised > INT16_MAX) ? INT16_MAX : raised);
}

/* Sums input [shape] over its reduced axes, requantizes the sums with double rounding, and stores
 * them, saturated, in output [kept axes]. Zero points are 0. Output must not overlap the input.
 * Sums must fit int32. */
MG_REDUCTION(mg_reduce_sum_s16, int16_t, int32_t, int16_t, 0)

#ifdef MG_REDUCE_SUM_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_reduce_sum_s16, int16_t, int16_t)
#endif

#endif
