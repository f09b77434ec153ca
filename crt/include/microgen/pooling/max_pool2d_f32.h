/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum pooling over 2-D windows, float32. */
#ifndef MICROGEN_MAX_POOL2D_F32_H
#define MICROGEN_MAX_POOL2D_F32_H

#include <float.h>
#include <stdint.h>

#include "microgen/arithmetic/clamp_f32.h"
#include "microgen/inline.h"
#include "microgen/pooling/pool.h"

typedef mg_pool_f32_params mg_max_pool2d_f32_params;

/* Computes the maximum of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Padding and NaN are ignored. The maximum
 * of a window without other values is the least finite value. Results are clamped. Output must not
 * overlap the input. */
MG_DECLARE_UNARY(mg_max_pool2d_f32, float, float);

MG_INLINE float mg_max_pool2d_f32_larger(float largest, float value)
{
    return (value > largest) ? value : largest;
}

MG_INLINE float mg_max_pool2d_f32_stored(const mg_max_pool2d_f32_params *p, float largest,
                                         int32_t count)
{
    (void)count;
    return mg_clamp_f32(largest, p->activation_min, p->activation_max);
}

MG_INLINE void mg_max_pool2d_f32_body(const mg_max_pool2d_f32_params *p, const float *input,
                                      float *output)
{
    MG_POOL(float, -FLT_MAX, mg_max_pool2d_f32_larger, mg_max_pool2d_f32_stored, p, input, output);
}

#ifdef MG_MAX_POOL2D_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_max_pool2d_f32, float, float)
#endif

#endif
