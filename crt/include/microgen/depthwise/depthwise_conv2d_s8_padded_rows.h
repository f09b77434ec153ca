/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution of depth multiplier 1, undilated, int8, for cores without SIMD
 * instructions: three neighbouring pixels of a channel at a time, from padded copies of rows. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_PADDED_ROWS_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_PADDED_ROWS_H

#include "microgen/depthwise/depthwise_conv2d_s8_rows.h"

typedef mg_depthwise_conv2d_s8_rows_params mg_depthwise_conv2d_s8_padded_rows_params;

/* Computes the same as mg_depthwise_conv2d_s8_body. depth_multiplier and dilations must be 1, and
 * output_width at least 3. The bias contains the input's zero point, or is that of MG_LINEAR.
 * scratch has kernel_height rows of mg_depthwise_columns pixels. The output and the input may
 * overlap as far as no output row ends after the first row of the input that is copied for the
 * next. */
MG_INLINE void mg_depthwise_conv2d_s8_padded_rows_body(
    const mg_depthwise_conv2d_s8_padded_rows_params *p, const int8_t *input, const int8_t *weight,
    const int32_t *bias, const int32_t *multiplier, const int8_t *shift, void *output,
    uint8_t *scratch, int requantization)
{
    const mg_depthwise_conv2d_s8_params layer = mg_depthwise_rows_layer(p);
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    mg_depthwise_all_rows(&layer, &scaling, input, weight, bias, (int8_t *)output,
                          (int8_t *)scratch, requantization);
}

#define MG_DEPTHWISE_CONV2D_S8_PADDED_ROWS_PROTOTYPE(name, shifts)                                 \
    MG_PROTOTYPE_COMPACT_SCRATCH(name, mg_depthwise_conv2d_s8_padded_rows, int8_t, shifts)
#define MG_DEPTHWISE_CONV2D_S8_PADDED_ROWS_KERNEL(name, shifts, ...)                               \
    MG_KERNEL_COMPACT_SCRATCH(name, mg_depthwise_conv2d_s8_padded_rows, int8_t, shifts, __VA_ARGS__)

#endif
