/* SPDX-License-Identifier: Apache-2.0 */
/* The pixels that reach a position of a transposed convolution's output, as a convolution's
 * window. */
#ifndef MICROGEN_CONV2D_TRANSPOSE_WINDOW_H
#define MICROGEN_CONV2D_TRANSPOSE_WINDOW_H

#include "microgen/convolution/conv2d_window.h"
#include "microgen/window.h"

/* The pixels that reach position (y, x) of output n, with their weights. Strides and padding of the
 * shape are those of the convolution in the opposite direction, which is neither grouped nor
 * dilated. Tap 0 of a filter is added at pixel * stride, so later pixels have earlier weights. */
MG_INLINE mg_window mg_conv2d_transpose_window_at(const mg_conv2d_shape *s, int32_t n, int32_t y,
                                                  int32_t x)
{
    const int32_t at_y = y + s->pad_top;
    const int32_t at_x = x + s->pad_left;
    const int32_t depth = s->input_channels;
    const mg_taps rows =
        mg_pixels_reaching(at_y, s->kernel_height, s->stride_height, s->input_height);
    const mg_taps columns =
        mg_pixels_reaching(at_x, s->kernel_width, s->stride_width, s->input_width);
    mg_window window = {0, 0, 0, 0, depth, s->input_width * depth, depth, 0, 0};

    if ((rows.begin < rows.end) && (columns.begin < columns.end)) {
        window.value =
            mg_nhwc(n, rows.begin, columns.begin, s->input_height, s->input_width, depth);
        window.weight =
            mg_nhwc(0, at_y - rows.begin * s->stride_height, at_x - columns.begin * s->stride_width,
                    s->kernel_height, s->kernel_width, depth);
        window.rows = rows.end - rows.begin;
        window.runs = columns.end - columns.begin;
    }
    /* The step past a single pixel is never used and might overflow. */
    if (window.rows > 1) {
        window.next_weight_row = -s->stride_height * s->kernel_width * depth;
    }
    if (window.runs > 1) {
        window.next_weight_run = -s->stride_width * depth;
    }
    return window;
}

#endif
