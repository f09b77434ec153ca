/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of int32 over any axes. */
#ifndef MICROGEN_REDUCE_SUM_S32_H
#define MICROGEN_REDUCE_SUM_S32_H

#include "microgen/reductions/reduction.h"

typedef struct {
    int32_t shape[6]; /* as microgen/reductions/reduction.h says */
} mg_reduce_sum_s32_params;

MG_INLINE uint32_t mg_reduce_sum_s32_step(const mg_reduce_sum_s32_params *p, uint32_t sum,
                                          int32_t value)
{
    (void)p;
    return sum + (uint32_t)value;
}

MG_INLINE int32_t mg_reduce_sum_s32_result(const mg_reduce_sum_s32_params *p, uint32_t sum)
{
    (void)p;
    return (int32_t)sum;
}

/* Sums input [shape] over its reduced axes, modulo 2^32, into output [kept axes]. Output must not
 * overlap the input. */
MG_REDUCTION(mg_reduce_sum_s32, int32_t, uint32_t, int32_t, 0)

#ifdef MG_REDUCE_SUM_S32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_reduce_sum_s32, int32_t, int32_t)
#endif

#endif
