/* SPDX-License-Identifier: Apache-2.0 */
/* Average pooling over 2-D windows, int16. */
#ifndef MICROGEN_AVG_POOL2D_S16_H
#define MICROGEN_AVG_POOL2D_S16_H

#include "microgen/pooling/pool.h"

typedef mg_pool_params mg_avg_pool2d_s16_params;

MG_INLINE int32_t mg_avg_pool2d_s16_step(int32_t sum, int16_t value)
{
    return sum + value;
}

MG_INLINE int16_t mg_avg_pool2d_s16_result(const mg_avg_pool2d_s16_params *p, int32_t sum,
                                           int32_t count)
{
    return (int16_t)mg_pool_mean(p, sum, count);
}

/* Computes the mean of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Padding is ignored. Means are rounded to
 * nearest, ties away from zero, and clamped. A window's sum must fit int32. Output must not overlap
 * the input. */
MG_POOLING(mg_avg_pool2d_s16, int16_t, int32_t, 0)

#ifdef MG_AVG_POOL2D_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_avg_pool2d_s16, int16_t, int16_t)
#endif

#endif
