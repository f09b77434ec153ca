/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of one group with undilated columns, int8, four output channels at a time. */
#ifndef MICROGEN_CONV2D_S8_BLOCKS_H
#define MICROGEN_CONV2D_S8_BLOCKS_H

#include "microgen/blocks/blocks_s8.h"
#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

typedef mg_conv2d_s8_params mg_conv2d_s8_blocks_params;

/* The part of a window that lies inside the input: `rows` rows of `run` values each. Values of
 * consecutive rows are `value_step` apart, their weights `weight_step`. */
typedef struct {
    const int8_t *values;
    const int8_t *weight;
    int32_t rows;
    int32_t run;
    int32_t value_step;
    int32_t weight_step;
} mg_conv2d_s8_window;

MG_INLINE mg_conv2d_s8_window mg_conv2d_s8_window_at(const mg_conv2d_s8_params *p,
                                                     const int8_t *input, const int8_t *weight,
                                                     int32_t batch, int32_t y, int32_t x)
{
    const int32_t top = y * p->stride_height - p->pad_top;
    const int32_t left = x * p->stride_width - p->pad_left;
    const mg_taps rows = mg_taps_inside(top, p->kernel_height, p->dilation_height, p->input_height);
    const mg_taps columns = mg_taps_inside(left, p->kernel_width, 1, p->input_width);
    const int32_t depth = p->input_channels;
    mg_conv2d_s8_window window = {
        input, weight, 0, 0, p->dilation_height * p->input_width * depth, p->kernel_width * depth};

    if ((rows.begin < rows.end) && (columns.begin < columns.end)) {
        window.values += mg_nhwc(batch, top + rows.begin * p->dilation_height, left + columns.begin,
                                 p->input_height, p->input_width, depth);
        window.weight += (rows.begin * p->kernel_width + columns.begin) * depth;
        window.rows = rows.end - rows.begin;
        window.run = (columns.end - columns.begin) * depth;
    }
    return window;
}

/* sums + the products of the window with the filters of channels c to c + 3. A filter has `size`
 * weights. */
MG_INLINE mg_sums mg_conv2d_s8_dot_4(const mg_conv2d_s8_window *window, mg_sums sums, int32_t c,
                                     int32_t size, int32_t offset, int loop)
{
    const int8_t *values = window->values;
    const int8_t *weight = &window->weight[c * size];

    for (int32_t row = 0; row < window->rows; row++) {
        sums = mg_dot_4(sums, values, weight, size, window->run, offset, loop);
        values += window->value_step;
        weight += window->weight_step;
    }
    return sums;
}

/* The same for one channel. */
MG_INLINE int32_t mg_conv2d_s8_dot_1(const mg_conv2d_s8_window *window, int32_t sum, int32_t c,
                                     int32_t size, int32_t offset)
{
    const int8_t *values = window->values;
    const int8_t *weight = &window->weight[c * size];

    for (int32_t row = 0; row < window->rows; row++) {
        sum = mg_dot(sum, values, weight, window->run, offset);
        values += window->value_step;
        weight += window->weight_step;
    }
    return sum;
}

/* Computes the same as mg_conv2d_s8_body with the same arguments. There must be one group, and
 * dilation_width must be 1. `loop` is a constant of microgen/blocks/blocks_s8.h. */
MG_BODY(mg_conv2d_s8_blocks, int8_t, int loop, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const int32_t channels = p->output_channels;
    const int32_t whole = channels - channels % 4;
    const int32_t size = p->kernel_height * p->kernel_width * p->input_channels;

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            for (int32_t x = 0; x < p->output_width; x++) {
                const mg_conv2d_s8_window window =
                    mg_conv2d_s8_window_at(p, input, weight, n, y, x);
                int8_t *out = (int8_t *)output +
                              mg_nhwc(n, y, x, p->output_height, p->output_width, channels);
                for (int32_t c = 0; c < whole; c += 4) {
                    const mg_sums sums = mg_conv2d_s8_dot_4(&window, mg_bias_4(bias, c), c, size,
                                                            p->input_offset, loop);
                    mg_store_4(&scaling, c, sums, out, requantization);
                }
                for (int32_t c = whole; c < channels; c++) {
                    const int32_t sum =
                        mg_conv2d_s8_dot_1(&window, mg_bias(bias, c), c, size, p->input_offset);
                    out[c] = mg_scaled(&scaling, c, sum, requantization);
                }
            }
        }
    }
}

#define MG_CONV2D_S8_BLOCKS_PROTOTYPE(name) MG_PROTOTYPE(name, mg_conv2d_s8_blocks, int8_t)
#define MG_CONV2D_S8_BLOCKS_KERNEL(name, ...)                                                      \
    MG_KERNEL(name, mg_conv2d_s8_blocks, int8_t, __VA_ARGS__)

/* 1x1 convolution with stride 1 and no padding, int8, four output channels at a time. */
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

/* 2-D convolution of one group with undilated columns, int8, of weights with a zero point, four
 * output channels at a time. */

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
