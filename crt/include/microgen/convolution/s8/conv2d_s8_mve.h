/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, int8 with int32 accumulators, for MVE. The kernel copies the windows of four
 * pixels into scratch memory. There each window is one row of contiguous bytes, padding
 * included. */
#ifndef MICROGEN_CONV2D_S8_MVE_H
#define MICROGEN_CONV2D_S8_MVE_H

#include <stddef.h>

#include "microgen/blocks/mve.h"
#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/out_of_line.h"

typedef mg_conv2d_s8_params mg_conv2d_s8_mve_params;

/* Computes the same as mg_conv2d_s8_body with MG_ROUND_TWICE and the same arguments, for one group.
 * scratch must have 4 * kernel_height * kernel_width * input_channels bytes. */
MG_EXTERN void mg_conv2d_s8_mve(MG_ARGUMENTS_S8(mg_conv2d_s8_mve, int8_t), uint8_t *scratch);

#if defined(__ARM_FEATURE_MVE)

/* Copies one line of a window, [kernel_width][input_channels]. `line` is the input's line, or NULL
 * if it is outside of the input. Returns the end of the copy. */
MG_INLINE int8_t *mg_conv2d_s8_mve_line(const mg_conv2d_s8_mve_params *p, const int8_t *line,
                                        int32_t origin_x, int8_t *to)
{
    const int32_t channels = p->input_channels;
    const mg_taps taps =
        mg_taps_inside(origin_x, p->kernel_width, p->dilation_width, p->input_width);

    if (line == NULL || taps.begin >= taps.end) {
        return mg_mve_fill(to, -p->input_offset, p->kernel_width * channels);
    }
    const int8_t *from = line + (origin_x + taps.begin * p->dilation_width) * channels;
    to = mg_mve_fill(to, -p->input_offset, taps.begin * channels);
    if (p->dilation_width == 1) {
        to = mg_mve_copy(to, from, (taps.end - taps.begin) * channels);
    } else {
        for (int32_t kx = taps.begin; kx < taps.end; kx++) {
            to = mg_mve_copy(to, from, channels);
            from += p->dilation_width * channels;
        }
    }
    return mg_mve_fill(to, -p->input_offset, (p->kernel_width - taps.end) * channels);
}

/* Copies the window of an output pixel. Pixels are numbered consecutively over all batches. */
MG_INLINE void mg_conv2d_s8_mve_window(const mg_conv2d_s8_mve_params *p, const int8_t *input,
                                       int32_t pixel, int8_t *to)
{
    const int32_t line = pixel / p->output_width;
    const int32_t origin_x = pixel % p->output_width * p->stride_width - p->pad_left;
    const int32_t origin_y = line % p->output_height * p->stride_height - p->pad_top;
    const int32_t batch = line / p->output_height;

    for (int32_t ky = 0; ky < p->kernel_height; ky++) {
        const int32_t y = origin_y + ky * p->dilation_height;
        const int8_t *from = NULL;
        if (y >= 0 && y < p->input_height) {
            from = &input[mg_nhwc(batch, y, 0, p->input_height, p->input_width, p->input_channels)];
        }
        to = mg_conv2d_s8_mve_line(p, from, origin_x, to);
    }
}

MG_INLINE void mg_conv2d_s8_mve_body(MG_ARGUMENTS_S8(mg_conv2d_s8_mve, int8_t), uint8_t *scratch)
{
    const mg_mve_layer layer =
        MG_MVE_LAYER_OF(p, p->kernel_height * p->kernel_width * p->input_channels);
    const int32_t pixels = p->batches * p->output_height * p->output_width;
    int8_t *rows = (int8_t *)scratch;
    const int8_t *const row[MG_MVE_ROWS] = {rows, rows + layer.depth, rows + 2 * layer.depth,
                                            rows + 3 * layer.depth};

    for (int32_t first = 0; first < pixels; first += MG_MVE_ROWS) {
        const int32_t count = (pixels - first < MG_MVE_ROWS) ? pixels - first : MG_MVE_ROWS;
        for (int32_t i = 0; i < MG_MVE_ROWS; i++) {
            mg_conv2d_s8_mve_window(p, input, first + ((i < count) ? i : 0),
                                    rows + i * layer.depth);
        }
        mg_mve_pixels(&layer, row, count, weight, bias, multiplier, shift,
                      &output[first * p->output_channels]);
    }
}

#endif

/* 2-D convolution with a 1x1 kernel, int8 with int32 accumulators, for MVE. */
typedef mg_conv2d_s8_params mg_conv2d_1x1_s8_mve_params;

/* Computes the same as mg_conv2d_s8_body with MG_ROUND_TWICE and the same arguments, for a 1x1
 * kernel, one group and no padding. */
MG_EXTERN void mg_conv2d_1x1_s8_mve(MG_ARGUMENTS_S8(mg_conv2d_1x1_s8_mve, int8_t));

#if defined(__ARM_FEATURE_MVE)

/* The input of an output pixel. Pixels are numbered consecutively over all batches. */
MG_INLINE const int8_t *mg_conv2d_1x1_s8_mve_row(const mg_conv2d_1x1_s8_mve_params *p,
                                                 const int8_t *input, int32_t pixel)
{
    if (p->stride_height == 1 && p->stride_width == 1) {
        return &input[pixel * p->input_channels];
    }
    const int32_t line = pixel / p->output_width;
    const int32_t x = pixel % p->output_width * p->stride_width;
    const int32_t y = line % p->output_height * p->stride_height;
    return &input[mg_nhwc(line / p->output_height, y, x, p->input_height, p->input_width,
                          p->input_channels)];
}

MG_INLINE void mg_conv2d_1x1_s8_mve_body(MG_ARGUMENTS_S8(mg_conv2d_1x1_s8_mve, int8_t))
{
    const mg_mve_layer layer = MG_MVE_LAYER_OF(p, p->input_channels);
    const int32_t pixels = p->batches * p->output_height * p->output_width;

    for (int32_t first = 0; first < pixels; first += MG_MVE_ROWS) {
        const int32_t count = (pixels - first < MG_MVE_ROWS) ? pixels - first : MG_MVE_ROWS;
        const int8_t *row[MG_MVE_ROWS];
        for (int32_t i = 0; i < MG_MVE_ROWS; i++) {
            row[i] = mg_conv2d_1x1_s8_mve_row(p, input, first + ((i < count) ? i : 0));
        }
        mg_mve_pixels(&layer, row, count, weight, bias, multiplier, shift,
                      &output[first * p->output_channels]);
    }
}

#ifdef MG_CONV2D_S8_MVE_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_conv2d_s8_mve, (p, input, weight, bias, multiplier, shift, output, scratch),
               MG_ARGUMENTS_S8(mg_conv2d_s8_mve, int8_t), uint8_t *scratch)
MG_OUT_OF_LINE(mg_conv2d_1x1_s8_mve, (p, input, weight, bias, multiplier, shift, output),
               MG_ARGUMENTS_S8(mg_conv2d_1x1_s8_mve, int8_t))
#endif

#endif

#endif
