/* SPDX-License-Identifier: Apache-2.0 */
/* Average pooling over 2-D windows, float32. */
#ifndef MICROGEN_AVG_POOL2D_F32_H
#define MICROGEN_AVG_POOL2D_F32_H

#include "microgen/arithmetic/clamp_f32.h"
#include "microgen/pooling/pool.h"

typedef mg_pool_f32_params mg_avg_pool2d_f32_params;

MG_INLINE float mg_avg_pool2d_f32_step(float sum, float value)
{
    return sum + value;
}

MG_INLINE float mg_avg_pool2d_f32_result(const mg_avg_pool2d_f32_params *p, float sum,
                                         int32_t count)
{
    return mg_clamp_f32(sum / (float)count, p->activation_min, p->activation_max);
}

/* Computes the mean of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Padding is ignored. Values are added row
 * by row. Means are clamped. Output must not overlap the input. */
MG_POOLING(mg_avg_pool2d_f32, float, float, 0.0F)

#ifdef MG_AVG_POOL2D_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_avg_pool2d_f32, float, float)
#endif

#endif
