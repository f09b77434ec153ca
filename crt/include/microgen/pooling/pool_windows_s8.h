/* SPDX-License-Identifier: Apache-2.0 */
/* The windows of int8 pools, for kernels that compute several channels at a time. */
#ifndef MICROGEN_POOL_WINDOWS_S8_H
#define MICROGEN_POOL_WINDOWS_S8_H

#include "microgen/pooling/pool.h"
#include "microgen/window.h"

MG_POOL_WINDOW(mg_pool_window, mg_pool_params, int8_t)

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
