/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of float32 images in any layout, grouped and dilated. */
#ifndef MICROGEN_CONV2D_STRIDED_F32_H
#define MICROGEN_CONV2D_STRIDED_F32_H

#include "microgen/blocks/sums_f32.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/pooling/strided_images.h"

typedef struct {
    mg_conv2d_shape shape;
    mg_image_steps input;
    mg_image_steps weight; /* its batch is the step between output channels */
    mg_image_steps output;
} mg_conv2d_strided_f32_params;

/* The part of the input that the filters of a group cover at one output position: `depth` channels
 * of `rows` by `columns` taps. `value` is the index of its first value, and `weight` the index of
 * that value's weight in the first filter. */
typedef struct {
    int32_t value;
    int32_t weight;
    int32_t depth;
    int32_t rows;
    int32_t columns;
    int32_t next_row; /* values between rows of taps */
    int32_t next_column;
} mg_strided_window;

/* The window at an output position, without taps outside of the input. It is empty if all taps are
 * outside. */
MG_INLINE mg_strided_window mg_strided_window_at(const mg_conv2d_strided_f32_params *p, int32_t n,
                                                 int32_t y, int32_t x)
{
    const mg_conv2d_shape *s = &p->shape;
    const int32_t top = y * s->stride_height - s->pad_top;
    const int32_t left = x * s->stride_width - s->pad_left;
    MG_TAPS_OF(s, top, left);
    mg_strided_window window = {0, 0, 0, 0, 0, 0, 0};

    if (rows.begin < rows.end && columns.begin < columns.end) {
        window.value = n * p->input.batch + (top + rows.begin * s->dilation_height) * p->input.row +
                       (left + columns.begin * s->dilation_width) * p->input.column;
        window.weight = rows.begin * p->weight.row + columns.begin * p->weight.column;
        window.depth = s->filter_channels;
        window.rows = rows.end - rows.begin;
        window.columns = columns.end - columns.begin;
        /* the step past a single tap is never used and might overflow */
        window.next_row = window.rows > 1 ? s->dilation_height * p->input.row : 0;
        window.next_column = window.columns > 1 ? s->dilation_width * p->input.column : 0;
    }
    return window;
}

/* The sums of products of the filter at `weights` and, if `four` is not 0, of the next three
 * filters. */
MG_INLINE mg_sums_f32 mg_strided_sums_f32(const mg_conv2d_strided_f32_params *p,
                                          const mg_strided_window *window, const float *values,
                                          const float *weights, int32_t four)
{
    const int32_t step = p->weight.batch;
    mg_sums_f32 sums = {0.0F, 0.0F, 0.0F, 0.0F};

    for (int32_t i = 0; i < window->depth; i++) {
        for (int32_t y = 0; y < window->rows; y++) {
            int32_t value = i * p->input.channel + y * window->next_row;
            int32_t weight = i * p->weight.channel + y * p->weight.row;
            for (int32_t x = 0; x < window->columns; x++) {
                sums.a += values[value] * weights[weight];
                if (four) {
                    sums.b += values[value] * weights[weight + step];
                    sums.c += values[value] * weights[weight + 2 * step];
                    sums.d += values[value] * weights[weight + 3 * step];
                }
                value += window->next_column;
                weight += p->weight.column;
            }
        }
    }
    return sums;
}

/* Computes filters first to last - 1, which read the same channels, at one output position. */
MG_INLINE void mg_conv2d_strided_f32_group(const mg_conv2d_strided_f32_params *p,
                                           const mg_strided_window *window, const float *values,
                                           const float *weight, int32_t first, int32_t last,
                                           float *output)
{
    const int32_t to = p->output.channel;
    int32_t c = first;

    while (c < last) {
        const float *weights = &weight[c * p->weight.batch + window->weight];
        if (c + 4 <= last) {
            const mg_sums_f32 sums = mg_strided_sums_f32(p, window, values, weights, 1);
            output[c * to] = sums.a;
            output[(c + 1) * to] = sums.b;
            output[(c + 2) * to] = sums.c;
            output[(c + 3) * to] = sums.d;
            c += 4;
        } else {
            output[c * to] = mg_strided_sums_f32(p, window, values, weights, 0).a;
            c++;
        }
    }
}

/* Convolves input into output. Products are added in the order of channels, rows, columns. Output
 * must not overlap the input. */
MG_INLINE void mg_conv2d_strided_f32_body(const mg_conv2d_strided_f32_params *p, const float *input,
                                          const float *weight, float *output)
{
    const mg_conv2d_shape *s = &p->shape;
    const int32_t group = mg_group_outputs(s);

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            for (int32_t x = 0; x < s->output_width; x++) {
                const mg_strided_window window = mg_strided_window_at(p, n, y, x);
                const int32_t place =
                    n * p->output.batch + y * p->output.row + x * p->output.column;
                for (int32_t first = 0; first < s->output_channels; first += group) {
                    const int32_t channel = first / group * s->filter_channels;
                    mg_conv2d_strided_f32_group(p, &window,
                                                &input[window.value + channel * p->input.channel],
                                                weight, first, first + group, &output[place]);
                }
            }
        }
    }
}

#endif
