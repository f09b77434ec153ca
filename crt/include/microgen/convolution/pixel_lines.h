/* SPDX-License-Identifier: Apache-2.0 */
/* The pixels of a convolution's output as lines, so that several pixels of a line are computed
 * together: rows of the image, or columns if more pixels of these have neighbours with windows of
 * the same extent. */
#ifndef MICROGEN_PIXEL_LINES_H
#define MICROGEN_PIXEL_LINES_H

#include "microgen/convolution/conv2d_window.h"
#include "microgen/window.h"

typedef struct {
    int32_t is_column;
    int32_t lines;       /* of an image */
    int32_t length;      /* pixels of a line */
    mg_taps whole;       /* those whose windows no end of the line clips */
    int32_t value_step;  /* values from the window of a pixel to the next one's */
    int32_t output_step; /* values from a pixel of the output to the next */
} mg_pixel_lines;

/* The places along an axis whose windows are not clipped: begin <= place < end, or none. */
MG_INLINE mg_taps mg_whole_places(int32_t size, int32_t places, int32_t kernel, int32_t stride,
                                  int32_t dilation, int32_t pad)
{
    const int32_t room = size - 1 - (kernel - 1) * dilation + pad;
    const int32_t until = (room < 0) ? 0 : room / stride + 1;
    const mg_taps whole = {(pad + stride - 1) / stride, (until < places) ? until : places};
    return whole;
}

/* Groups of `block` pixels in all lines. */
MG_INLINE int32_t mg_blocks_of(mg_taps whole, int32_t lines, int32_t block)
{
    return (whole.end > whole.begin) ? lines * ((whole.end - whole.begin) / block) : 0;
}

/* The lines in which more blocks of `block` pixels fit. */
MG_INLINE mg_pixel_lines mg_pixel_lines_of(const mg_conv2d_shape *s, int32_t block)
{
    const mg_taps rows = mg_whole_places(s->input_height, s->output_height, s->kernel_height,
                                         s->stride_height, s->dilation_height, s->pad_top);
    const mg_taps columns = mg_whole_places(s->input_width, s->output_width, s->kernel_width,
                                            s->stride_width, s->dilation_width, s->pad_left);
    const int32_t is_column =
        mg_blocks_of(rows, s->output_width, block) > mg_blocks_of(columns, s->output_height, block);
    const mg_pixel_lines by_row = {0,
                                   s->output_height,
                                   s->output_width,
                                   columns,
                                   s->stride_width * s->input_channels,
                                   s->output_channels};
    const mg_pixel_lines by_column = {1,
                                      s->output_width,
                                      s->output_height,
                                      rows,
                                      s->stride_height * s->input_width * s->input_channels,
                                      s->output_width * s->output_channels};
    return (is_column != 0) ? by_column : by_row;
}

/* The row, and the column, of a pixel in a line. */
MG_INLINE int32_t mg_row_of(const mg_pixel_lines *l, int32_t line, int32_t place)
{
    return (l->is_column != 0) ? place : line;
}

MG_INLINE int32_t mg_column_of(const mg_pixel_lines *l, int32_t line, int32_t place)
{
    return (l->is_column != 0) ? line : place;
}

/* Whether `block` pixels from `place` on have windows of the same extent. */
MG_INLINE int32_t mg_is_block(const mg_pixel_lines *l, int32_t place, int32_t block)
{
    return (place >= l->whole.begin) && (place + block <= l->whole.end);
}

/* Computes the output of a convolution of float32, `block` pixels of a line at a time where their
 * windows have the same extent. `window_at` is the function of conv2d_window.h for the kind of
 * convolution. Calls pixels(p, lines, window, is_block, pixel, ...) for each pixel, and for each
 * `block` if `is_block` is 1, with the (first) pixel's window and its place in the output. This is
 * a macro so that `pixels` is inlined at every optimisation level. */
#define MG_PIXELS_F32(block, pixels, window_at, p, output, ...)                                    \
    do {                                                                                           \
        const mg_conv2d_shape *s_ = &(p)->shape;                                                   \
        const mg_pixel_lines lines_ = mg_pixel_lines_of(s_, (block));                              \
        for (int32_t n_ = 0; n_ < s_->batches; n_++) {                                             \
            for (int32_t line_ = 0; line_ < lines_.lines; line_++) {                               \
                int32_t place_ = 0;                                                                \
                while (place_ < lines_.length) {                                                   \
                    const int32_t y_ = mg_row_of(&lines_, line_, place_);                          \
                    const int32_t x_ = mg_column_of(&lines_, line_, place_);                       \
                    const mg_window window_ = window_at(s_, n_, y_, x_);                           \
                    float *pixel_ = &(output)[mg_nhwc(n_, y_, x_, s_->output_height,               \
                                                      s_->output_width, s_->output_channels)];     \
                    if (mg_is_block(&lines_, place_, (block))) {                                   \
                        pixels((p), &lines_, &window_, 1, pixel_, __VA_ARGS__);                    \
                        place_ += (block);                                                         \
                    } else {                                                                       \
                        pixels((p), &lines_, &window_, 0, pixel_, __VA_ARGS__);                    \
                        place_++;                                                                  \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#endif
