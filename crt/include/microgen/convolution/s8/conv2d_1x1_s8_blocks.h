/* SPDX-License-Identifier: Apache-2.0 */
/* 1x1 convolution with stride 1 and no padding, int8, four output channels at a time. */
#ifndef MICROGEN_CONV2D_1X1_S8_BLOCKS_H
#define MICROGEN_CONV2D_1X1_S8_BLOCKS_H

#include "microgen/blocks/blocks_s8.h"
#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_conv2d_s8_params mg_conv2d_1x1_s8_blocks_params;

/* The output pixel for one input pixel. */
MG_INLINE void mg_conv2d_1x1_s8_pixel(const mg_conv2d_s8_params *p, const mg_scaling *scaling,
                                      const int8_t *pixel, const int8_t *weight,
                                      const int32_t *bias, int8_t *out, int loop,
                                      int requantization)
{
    const int32_t depth = p->input_channels;
    const int32_t channels = p->output_channels;
    const int32_t whole = channels - channels % 4;

    for (int32_t c = 0; c < whole; c += 4) {
        const mg_sums sums = mg_dot_4(mg_bias_4(bias, c), pixel, &weight[c * depth], depth, depth,
                                      p->input_offset, loop);
        mg_store_4(scaling, c, sums, out, requantization);
    }
    for (int32_t c = whole; c < channels; c++) {
        const int32_t sum =
            mg_dot(mg_bias(bias, c), pixel, &weight[c * depth], depth, p->input_offset);
        out[c] = mg_scaled(scaling, c, sum, requantization);
    }
}

/* Computes the same as mg_conv2d_s8_body with the same arguments. The kernel is 1x1, both strides
 * are 1, there is no padding and only one group. `loop` is a constant of
 * microgen/blocks/blocks_s8.h. */
MG_BODY(mg_conv2d_1x1_s8_blocks, int8_t, int loop, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const int32_t pixels = p->batches * p->input_height * p->input_width;

    for (int32_t i = 0; i < pixels; i++) {
        mg_conv2d_1x1_s8_pixel(p, &scaling, &input[i * p->input_channels], weight, bias,
                               (int8_t *)output + i * p->output_channels, loop, requantization);
    }
}

#define MG_CONV2D_1X1_S8_BLOCKS_PROTOTYPE(name) MG_PROTOTYPE(name, mg_conv2d_1x1_s8_blocks, int8_t)
#define MG_CONV2D_1X1_S8_BLOCKS_KERNEL(name, ...)                                                  \
    MG_KERNEL(name, mg_conv2d_1x1_s8_blocks, int8_t, __VA_ARGS__)

#endif
