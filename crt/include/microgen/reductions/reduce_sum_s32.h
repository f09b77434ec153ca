/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of int32 over any axes. */
#ifndef MICROGEN_REDUCE_SUM_S32_H
#define MICROGEN_REDUCE_SUM_S32_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/reductions/reduction.h"

typedef struct {
    int32_t shape[6]; /* as microgen/reductions/reduction.h says */
} mg_reduce_sum_s32_params;

/* Sums input [shape] over its reduced axes, modulo 2^32, into output [kept axes]. Output must not
 * overlap the input. */
MG_DECLARE_UNARY(mg_reduce_sum_s32, int32_t, int32_t);

MG_INLINE uint32_t mg_reduce_sum_s32_add(const mg_reduce_sum_s32_params *p, uint32_t sum,
                                         int32_t value)
{
    (void)p;
    return sum + (uint32_t)value;
}

MG_INLINE int32_t mg_reduce_sum_s32_stored(const mg_reduce_sum_s32_params *p, uint32_t sum)
{
    (void)p;
    return (int32_t)sum;
}

MG_INLINE void mg_reduce_sum_s32_body(const mg_reduce_sum_s32_params *p, const int32_t *input,
                                      int32_t *output)
{
    MG_REDUCE(uint32_t, 0, mg_reduce_sum_s32_add, mg_reduce_sum_s32_stored, p, input, output);
}

#ifdef MG_REDUCE_SUM_S32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_reduce_sum_s32, int32_t, int32_t)
#endif

#endif
