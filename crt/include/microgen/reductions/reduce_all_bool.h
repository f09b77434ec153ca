/* SPDX-License-Identifier: Apache-2.0 */
/* Whether all bools over any axes are true. */
#ifndef MICROGEN_REDUCE_ALL_BOOL_H
#define MICROGEN_REDUCE_ALL_BOOL_H

#include "microgen/reductions/reduction.h"

typedef struct {
    int32_t shape[6]; /* as microgen/reductions/reduction.h says */
} mg_reduce_all_bool_params;

MG_INLINE uint8_t mg_reduce_all_bool_step(const mg_reduce_all_bool_params *p, uint8_t all,
                                          uint8_t value)
{
    (void)p;
    return (uint8_t)(all & value);
}

MG_INLINE uint8_t mg_reduce_all_bool_result(const mg_reduce_all_bool_params *p, uint8_t all)
{
    (void)p;
    return all;
}

/* Writes for each value of output [kept axes] 1 if no value of its reduction in input [shape] is 0,
 * otherwise 0. All values are 0 or 1. Output must not overlap the input. */
MG_REDUCTION(mg_reduce_all_bool, uint8_t, uint8_t, uint8_t, 1)

#ifdef MG_REDUCE_ALL_BOOL_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_reduce_all_bool, uint8_t, uint8_t)
#endif

#endif
