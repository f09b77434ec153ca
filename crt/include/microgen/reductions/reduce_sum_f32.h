/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and means of float32 over any axes. */
#ifndef MICROGEN_REDUCE_SUM_F32_H
#define MICROGEN_REDUCE_SUM_F32_H

#include "microgen/reductions/reduction.h"

typedef struct {
    int32_t shape[6]; /* as microgen/reductions/reduction.h says */
    float divisor;    /* the number of values summed for a mean, 1 for a sum */
} mg_reduce_sum_f32_params;

MG_INLINE float mg_reduce_sum_f32_step(const mg_reduce_sum_f32_params *p, float sum, float value)
{
    (void)p;
    return sum + value;
}

MG_INLINE float mg_reduce_sum_f32_result(const mg_reduce_sum_f32_params *p, float sum)
{
    return sum / p->divisor;
}

/* Sums input [shape] over its reduced axes, in order, and stores the sums divided by `divisor` in
 * output [kept axes]. Output must not overlap the input. */
MG_REDUCTION(mg_reduce_sum_f32, float, float, float, 0.0F)

#ifdef MG_REDUCE_SUM_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_reduce_sum_f32, float, float)
#endif

#endif
