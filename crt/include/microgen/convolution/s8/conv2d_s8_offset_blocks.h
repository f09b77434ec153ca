/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of one group with undilated columns, int8, of weights with a zero point, four
 * output channels at a time. */
#ifndef MICROGEN_CONV2D_S8_OFFSET_BLOCKS_H
#define MICROGEN_CONV2D_S8_OFFSET_BLOCKS_H

#include "microgen/blocks/blocks_s8.h"
#include "microgen/convolution/s8/conv2d_s8_blocks.h"
#include "microgen/convolution/s8/conv2d_s8_offset.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_conv2d_s8_offset_params mg_conv2d_s8_offset_blocks_params;

/* What the weights' offset adds to the sum of every output channel: the sum of the window's values
 * times the offset. */
MG_INLINE int32_t mg_conv2d_s8_offset_part(const mg_conv2d_s8_offset_params *p,
                                           const mg_conv2d_s8_window *window)
{
    const int8_t *values = window->values;
    int32_t sum = window->rows * window->run * p->conv.input_offset;

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t i = 0; i < window->run; i++) {
            sum += values[i];
        }
        values += window->value_step;
    }
    return sum * p->weight_offset;
}

/* Computes all output channels of one pixel, from element `out` of the outputs on. */
MG_INLINE void mg_conv2d_s8_offset_pixel(const mg_conv2d_s8_offset_params *p,
                                         const mg_conv2d_s8_window *window, const int32_t *bias,
                                         const mg_scaling *scaling, int8_t *out, int loop,
                                         int requantization)
{
    const mg_conv2d_s8_params *q = &p->conv;
    const int32_t whole = q->output_channels - q->output_channels % 4;
    const int32_t size = q->kernel_height * q->kernel_width * q->input_channels;
    const int32_t part = mg_conv2d_s8_offset_part(p, window);

    for (int32_t c = 0; c < whole; c += 4) {
        mg_sums sums = mg_bias_4(bias, c);
        sums.a += part;
        sums.b += part;
        sums.c += part;
        sums.d += part;
        sums = mg_conv2d_s8_dot_4(window, sums, c, size, q->input_offset, loop);
        mg_store_4(scaling, c, sums, out, requantization);
    }
    for (int32_t c = whole; c < q->output_channels; c++) {
        const int32_t sum =
            mg_conv2d_s8_dot_1(window, mg_bias(bias, c) + part, c, size, q->input_offset);
        out[c] = mg_scaled(scaling, c, sum, requantization);
    }
}

/* Computes the same as mg_conv2d_s8_offset_body with the same arguments. There must be one group,
 * and dilation_width must be 1. With v = input + input_offset, the magnitudes of the bias, of the
 * products v * weight and of the products v * weight_offset must fit int32 together. `loop` is a
 * constant of microgen/blocks/blocks_s8.h. */
MG_BODY(mg_conv2d_s8_offset_blocks, int8_t, int loop, int requantization)
{
    const mg_conv2d_s8_params *q = &p->conv;
    const mg_scaling scaling = MG_SCALING_OF(q, multiplier, shift);

    for (int32_t n = 0; n < q->batches; n++) {
        for (int32_t y = 0; y < q->output_height; y++) {
            for (int32_t x = 0; x < q->output_width; x++) {
                const mg_conv2d_s8_window window =
                    mg_conv2d_s8_window_at(q, input, weight, n, y, x);
                int8_t *out = (int8_t *)output + mg_nhwc(n, y, x, q->output_height, q->output_width,
                                                         q->output_channels);
                mg_conv2d_s8_offset_pixel(p, &window, bias, &scaling, out, loop, requantization);
            }
        }
    }
}

#define MG_CONV2D_S8_OFFSET_BLOCKS_PROTOTYPE(name)                                                 \
    MG_PROTOTYPE(name, mg_conv2d_s8_offset_blocks, int8_t)
#define MG_CONV2D_S8_OFFSET_BLOCKS_KERNEL(name, ...)                                               \
    MG_KERNEL(name, mg_conv2d_s8_offset_blocks, int8_t, __VA_ARGS__)

#endif
