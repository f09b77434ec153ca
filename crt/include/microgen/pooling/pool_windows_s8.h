/* SPDX-License-Identifier: Apache-2.0 */
/* The windows of int8 pools, for kernels that compute several channels at a time. */
#ifndef MICROGEN_POOL_WINDOWS_S8_H
#define MICROGEN_POOL_WINDOWS_S8_H

#include "microgen/pooling/pool.h"
#include "microgen/window.h"

/* The part of a window that is inside the input: its first value, and its size. */
typedef struct {
    const int8_t *first;
    int32_t height;
    int32_t width;
} mg_pool_window;

/* The window of pixel [y][x] of the image at `input`. */
MG_INLINE mg_pool_window mg_pool_window_at(const mg_pool_params *p, const int8_t *input, int32_t y,
                                           int32_t x)
{
    const int32_t top = y * p->stride_height - p->pad_top;
    const int32_t left = x * p->stride_width - p->pad_left;
    const mg_taps rows = mg_taps_inside(top, p->pool_height, 1, p->input_height);
    const mg_taps columns = mg_taps_inside(left, p->pool_width, 1, p->input_width);
    const int32_t pixel = (top + rows.begin) * p->input_width + left + columns.begin;
    const mg_pool_window window = {&input[pixel * p->channels], rows.end - rows.begin,
                                   columns.end - columns.begin};
    return window;
}

/* Calls pixel(p, &window, output) for each pixel of the output of the pool with the mg_pool_params
 * `pool`. This is a macro so that `pixel` is inlined at every optimisation level. */
#define MG_POOL_WINDOWS(pixel, p, pool, input, output)                                             \
    do {                                                                                           \
        int8_t *to_ = (output);                                                                    \
        for (int32_t n_ = 0; n_ < (pool)->batches; n_++) {                                         \
            const int8_t *image_ =                                                                 \
                &(input)[n_ * (pool)->input_height * (pool)->input_width * (pool)->channels];      \
            for (int32_t y_ = 0; y_ < (pool)->output_height; y_++) {                               \
                for (int32_t x_ = 0; x_ < (pool)->output_width; x_++) {                            \
                    const mg_pool_window window_ = mg_pool_window_at((pool), image_, y_, x_);      \
                    pixel((p), &window_, to_);                                                     \
                    to_ += (pool)->channels;                                                       \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#endif
