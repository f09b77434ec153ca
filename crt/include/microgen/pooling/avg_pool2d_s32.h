/* SPDX-License-Identifier: Apache-2.0 */
/* Average pooling over 2-D windows, plain int32 numbers. */
#ifndef MICROGEN_AVG_POOL2D_S32_H
#define MICROGEN_AVG_POOL2D_S32_H

#include "microgen/pooling/pool.h"

typedef mg_pool_params mg_avg_pool2d_s32_params;

MG_INLINE uint32_t mg_avg_pool2d_s32_step(uint32_t sum, int32_t value)
{
    return sum + (uint32_t)value;
}

MG_INLINE int32_t mg_avg_pool2d_s32_result(const mg_avg_pool2d_s32_params *p, uint32_t sum,
                                           int32_t count)
{
    return mg_pool_clamped(p, (int32_t)sum / count);
}

/* Computes the mean of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Padding is ignored. Sums are taken
 * modulo 2^32, and quotients are truncated, then clamped. Output must not overlap the input. */
MG_POOLING(mg_avg_pool2d_s32, int32_t, uint32_t, 0U)

#ifdef MG_AVG_POOL2D_S32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_avg_pool2d_s32, int32_t, int32_t)
#endif

#endif
