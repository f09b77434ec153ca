/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum pooling over 2-D windows: the maximum of each window of input
 * [batches][input_height][input_width][channels], clamped, in output
 * [batches][output_height][output_width][channels]. Padding is ignored. Output must not overlap the
 * input. */
#ifndef MICROGEN_MAX_POOL2D_H
#define MICROGEN_MAX_POOL2D_H

#include <float.h>

#include "microgen/arithmetic/clamp.h"
#include "microgen/pooling/pool.h"

typedef mg_pool_f32_params mg_max_pool2d_f32_params;

/* NaN is ignored, too. The maximum of a window without other values is the least finite value. */
MG_MAX_POOLING(mg_max_pool2d_f32, float, float, -FLT_MAX,
               mg_clamp_f32(largest, p->activation_min, p->activation_max))

typedef mg_pool_params mg_max_pool2d_s8_params;
typedef mg_pool_params mg_max_pool2d_s16_params;

MG_MAX_POOLING(mg_max_pool2d_s8, int8_t, int32_t, INT8_MIN, mg_pool_clamped(p, largest))
MG_MAX_POOLING(mg_max_pool2d_s16, int16_t, int32_t, INT16_MIN, mg_pool_clamped(p, largest))

#ifdef MG_MAX_POOL2D_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_max_pool2d_f32, float, float)
MG_DEFINE_UNARY(mg_max_pool2d_s8, int8_t, int8_t)
MG_DEFINE_UNARY(mg_max_pool2d_s16, int16_t, int16_t)
#endif

#endif
