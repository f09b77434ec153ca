/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum pooling over 2-D windows, int16. */
#ifndef MICROGEN_MAX_POOL2D_S16_H
#define MICROGEN_MAX_POOL2D_S16_H

#include "microgen/pooling/pool.h"

typedef mg_pool_params mg_max_pool2d_s16_params;

/* Computes the maximum of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Padding is ignored, and results are
 * clamped. Output must not overlap the input. */
MG_MAX_POOLING(mg_max_pool2d_s16, int16_t, int32_t, INT16_MIN, mg_pool_clamped(p, largest))

#ifdef MG_MAX_POOL2D_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_max_pool2d_s16, int16_t, int16_t)
#endif

#endif
