/* SPDX-License-Identifier: Apache-2.0 */
/* Greatest or least float32 values over any axes. */
#ifndef MICROGEN_REDUCE_MAX_F32_H
#define MICROGEN_REDUCE_MAX_F32_H

#include "microgen/reductions/reduction.h"

typedef struct {
    int32_t shape[6];   /* as microgen/reductions/reduction.h says */
    int32_t is_minimum; /* 1: the least value; 0: the greatest */
    float first;        /* what the search begins with, such as -FLT_MAX for the greatest */
} mg_reduce_max_f32_params;

MG_INLINE float mg_reduce_max_f32_step(const mg_reduce_max_f32_params *p, float best, float value)
{
    return ((p->is_minimum != 0) ? (value < best) : (value > best)) ? value : best;
}

MG_INLINE float mg_reduce_max_f32_result(const mg_reduce_max_f32_params *p, float best)
{
    (void)p;
    return best;
}

/* Writes the extremes of input [shape] over its reduced axes into output [kept axes]. NaN is
 * ignored. If no value is better than first, the result is first. Output must not overlap the
 * input. */
MG_REDUCTION(mg_reduce_max_f32, float, float, float, p->first)

#ifdef MG_REDUCE_MAX_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_reduce_max_f32, float, float)
#endif

#endif
