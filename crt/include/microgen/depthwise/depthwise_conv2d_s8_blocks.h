/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution of depth multiplier 1, int8, four output channels at a time. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_BLOCKS_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_BLOCKS_H

#include "microgen/blocks/blocks_s8.h"
#include "microgen/depthwise/depthwise_conv2d_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

typedef mg_depthwise_conv2d_s8_params mg_depthwise_conv2d_s8_blocks_params;

/* The part of a window that lies inside the input, and the steps in it. */
typedef struct {
    const int8_t *values;
    const int8_t *weight;
    int32_t rows;
    int32_t columns;
    int32_t value_step;     /* from one column to the next */
    int32_t value_row_step; /* from one row to the next */
    int32_t weight_row_step;
} mg_depthwise_conv2d_s8_window;

MG_INLINE mg_depthwise_conv2d_s8_window
mg_depthwise_conv2d_s8_window_at(const mg_depthwise_conv2d_s8_params *p, const int8_t *input,
                                 const int8_t *weight, int32_t batch, int32_t y, int32_t x)
{
    const int32_t top = y * p->stride_height - p->pad_top;
    const int32_t left = x * p->stride_width - p->pad_left;
    MG_TAPS_OF(p, top, left);
    const int32_t depth = p->input_channels;
    mg_depthwise_conv2d_s8_window window = {input,
                                            weight,
                                            0,
                                            0,
                                            p->dilation_width * depth,
                                            p->dilation_height * p->input_width * depth,
                                            p->kernel_width * depth};

    if ((rows.begin < rows.end) && (columns.begin < columns.end)) {
        window.values += mg_nhwc(batch, top + rows.begin * p->dilation_height,
                                 left + columns.begin * p->dilation_width, p->input_height,
                                 p->input_width, depth);
        window.weight += (rows.begin * p->kernel_width + columns.begin) * depth;
        window.rows = rows.end - rows.begin;
        window.columns = columns.end - columns.begin;
    }
    return window;
}

/* sums + the products of one tap of four channels. */
MG_INLINE mg_sums mg_depthwise_conv2d_s8_tap(mg_sums sums, const int8_t *values,
                                             const int8_t *weight, int32_t offset, int loop)
{
    if (loop == MG_DSP) {
        const uint32_t offsets = mg_twice_s16(offset);
        const uint32_t bytes = mg_load_4_s8(values);
        const uint32_t taps = mg_load_4_s8(weight);
        const uint32_t even = mg_sxtab16(offsets, bytes);
        const uint32_t odd = mg_sxtab16_odd(offsets, bytes);
        const uint32_t even_taps = mg_sxtb16(taps);
        const uint32_t odd_taps = mg_sxtb16_odd(taps);
        sums.a = mg_smlabb(even, even_taps, sums.a);
        sums.b = mg_smlabb(odd, odd_taps, sums.b);
        sums.c = mg_smlatt(even, even_taps, sums.c);
        sums.d = mg_smlatt(odd, odd_taps, sums.d);
    } else {
        sums.a += (values[0] + offset) * weight[0];
        sums.b += (values[1] + offset) * weight[1];
        sums.c += (values[2] + offset) * weight[2];
        sums.d += (values[3] + offset) * weight[3];
    }
    return sums;
}

/* sums + the products of the window for channels c to c + 3 of `depth` channels. */
MG_INLINE mg_sums mg_depthwise_conv2d_s8_dot_4(const mg_depthwise_conv2d_s8_window *window,
                                               mg_sums sums, int32_t c, int32_t depth,
                                               int32_t offset, int loop)
{
    const int8_t *row = &window->values[c];
    const int8_t *weight_row = &window->weight[c];

    for (int32_t y = 0; y < window->rows; y++) {
        const int8_t *values = row;
        const int8_t *weight = weight_row;
        for (int32_t x = 0; x < window->columns; x++) {
            sums = mg_depthwise_conv2d_s8_tap(sums, values, weight, offset, loop);
            values += window->value_step;
            weight += depth;
        }
        row += window->value_row_step;
        weight_row += window->weight_row_step;
    }
    return sums;
}

/* The same for one channel. */
MG_INLINE int32_t mg_depthwise_conv2d_s8_dot_1(const mg_depthwise_conv2d_s8_window *window,
                                               int32_t sum, int32_t c, int32_t depth,
                                               int32_t offset)
{
    const int8_t *row = &window->values[c];
    const int8_t *weight_row = &window->weight[c];

    for (int32_t y = 0; y < window->rows; y++) {
        for (int32_t x = 0; x < window->columns; x++) {
            sum += (row[x * window->value_step] + offset) * weight_row[x * depth];
        }
        row += window->value_row_step;
        weight_row += window->weight_row_step;
    }
    return sum;
}

/* Computes the same as mg_depthwise_conv2d_s8_body with the same arguments. depth_multiplier must
 * be 1. `loop` is a constant of microgen/blocks/blocks_s8.h. */
/* The output pixel at y, x of a batch. */
MG_INLINE void mg_depthwise_conv2d_s8_pixel(const mg_depthwise_conv2d_s8_params *p,
                                            const mg_scaling *scaling, const int8_t *input,
                                            const int8_t *weight, const int32_t *bias,
                                            int32_t batch, int32_t y, int32_t x, int8_t *out,
                                            int loop, int requantization)
{
    const int32_t depth = p->input_channels;
    const int32_t whole = depth - depth % 4;
    const mg_depthwise_conv2d_s8_window window =
        mg_depthwise_conv2d_s8_window_at(p, input, weight, batch, y, x);

    for (int32_t c = 0; c < whole; c += 4) {
        const mg_sums sums = mg_depthwise_conv2d_s8_dot_4(&window, mg_bias_4(bias, c), c, depth,
                                                          p->input_offset, loop);
        mg_store_4(scaling, c, sums, out, requantization);
    }
    for (int32_t c = whole; c < depth; c++) {
        const int32_t sum =
            mg_depthwise_conv2d_s8_dot_1(&window, mg_bias(bias, c), c, depth, p->input_offset);
        out[c] = mg_scaled(scaling, c, sum, requantization);
    }
}

MG_BODY(mg_depthwise_conv2d_s8_blocks, int8_t, int loop, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            for (int32_t x = 0; x < p->output_width; x++) {
                const int32_t at =
                    mg_nhwc(n, y, x, p->output_height, p->output_width, p->input_channels);
                mg_depthwise_conv2d_s8_pixel(p, &scaling, input, weight, bias, n, y, x,
                                             (int8_t *)output + at, loop, requantization);
            }
        }
    }
}

#define MG_DEPTHWISE_CONV2D_S8_BLOCKS_PROTOTYPE(name)                                              \
    MG_PROTOTYPE(name, mg_depthwise_conv2d_s8_blocks, int8_t)
#define MG_DEPTHWISE_CONV2D_S8_BLOCKS_KERNEL(name, ...)                                            \
    MG_KERNEL(name, mg_depthwise_conv2d_s8_blocks, int8_t, __VA_ARGS__)

#endif
