/* SPDX-License-Identifier: Apache-2.0 */
/* Greatest or least integers over any axes. */
#ifndef MICROGEN_REDUCE_MAX_H
#define MICROGEN_REDUCE_MAX_H

#include "microgen/reductions/reduction.h"

typedef struct {
    int32_t shape[6];   /* as microgen/reductions/reduction.h says */
    int32_t is_minimum; /* 1: the least value; 0: the greatest */
} mg_reduce_max_params;

/* Defines the kernel `symbol`, which writes the extremes of input [shape] over its reduced axes
 * into output [kept axes]. Output must not overlap the input. */
#define MG_REDUCE_MAX(symbol, type, least, most)                                                   \
    typedef mg_reduce_max_params symbol##_params;                                                  \
    MG_INLINE type symbol##_step(const symbol##_params *p, type best, type value)                  \
    {                                                                                              \
        return ((p->is_minimum != 0) ? (value < best) : (value > best)) ? value : best;            \
    }                                                                                              \
    MG_INLINE type symbol##_result(const symbol##_params *p, type best)                            \
    {                                                                                              \
        (void)p;                                                                                   \
        return best;                                                                               \
    }                                                                                              \
    MG_REDUCTION(symbol, type, type, type, (p->is_minimum != 0) ? (most) : (least))

MG_REDUCE_MAX(mg_reduce_max_s8, int8_t, INT8_MIN, INT8_MAX)
MG_REDUCE_MAX(mg_reduce_max_s16, int16_t, INT16_MIN, INT16_MAX)
MG_REDUCE_MAX(mg_reduce_max_s32, int32_t, INT32_MIN, INT32_MAX)

#ifdef MG_REDUCE_MAX_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_reduce_max_s8, int8_t, int8_t)
MG_DEFINE_UNARY(mg_reduce_max_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_reduce_max_s32, int32_t, int32_t)
#endif

#endif
