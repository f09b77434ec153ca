/* SPDX-License-Identifier: Apache-2.0 */
/* Average and maximum pooling of float32, four channels at a time, for cores with an FPU. */
#ifndef MICROGEN_POOL2D_F32_BLOCKS_H
#define MICROGEN_POOL2D_F32_BLOCKS_H

#include <float.h>

#include "microgen/blocks/sums_f32.h"
#include "microgen/pooling/avg_pool2d.h"
#include "microgen/pooling/max_pool2d.h"
#include "microgen/pooling/pool.h"
#include "microgen/window.h"

typedef mg_pool_f32_params mg_avg_pool2d_f32_blocks_params;
typedef mg_pool_f32_params mg_max_pool2d_f32_blocks_params;

/* Each computes what mg_avg_pool2d_f32 and mg_max_pool2d_f32 do, in the same order of values. */
MG_DECLARE_UNARY(mg_avg_pool2d_f32_blocks, float, float);
MG_DECLARE_UNARY(mg_max_pool2d_f32_blocks, float, float);

MG_POOL_WINDOW(mg_pool_window_f32, mg_pool_f32_params, float)

/* Runs statements for each tap of a window; `tap_` points to its value of the channel. */
#define MG_POOL_TAPS_F32(p, window, channel, statements)                                           \
    do {                                                                                           \
        for (int32_t line_ = 0; line_ < (window)->height; line_++) {                               \
            const float *tap_ =                                                                    \
                &(window)->first[line_ * (p)->input_width * (p)->channels + (channel)];            \
            for (int32_t left_ = (window)->width; left_ > 0; left_--) {                            \
                statements tap_ += (p)->channels;                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* For the channels c to c + 3 of a window, and for channel c: the state, `first` of each at the
 * start, after step(state, value) for all values. */
#define MG_POOL_FOUR_F32(step, p, window, channel, states)                                         \
    MG_POOL_TAPS_F32(p, window, channel, (states).a = step((states).a, tap_[0]);                   \
                     (states).b = step((states).b, tap_[1]);                                       \
                     (states).c = step((states).c, tap_[2]);                                       \
                     (states).d = step((states).d, tap_[3]);)
#define MG_POOL_ONE_F32(step, p, window, channel, state)                                           \
    MG_POOL_TAPS_F32(p, window, channel, (state) = step((state), *tap_);)

/* Pools all channels of a window. `kernel` is the kernel whose states begin as `least`, with the
 * functions `kernel`_step and `kernel`_result of pool.h. */
#define MG_POOL_PIXEL_F32(kernel, least, p, window, output)                                        \
    do {                                                                                           \
        const int32_t count_ = (window)->height * (window)->width;                                 \
        int32_t c_ = 0;                                                                            \
        for (int32_t four_ = (p)->channels / 4; four_ > 0; four_--) {                              \
            mg_sums_f32 states_ = {(least), (least), (least), (least)};                            \
            MG_POOL_FOUR_F32(kernel##_step, (p), (window), c_, states_);                           \
            (output)[c_] = kernel##_result((p), states_.a, count_);                                \
            (output)[c_ + 1] = kernel##_result((p), states_.b, count_);                            \
            (output)[c_ + 2] = kernel##_result((p), states_.c, count_);                            \
            (output)[c_ + 3] = kernel##_result((p), states_.d, count_);                            \
            c_ += 4;                                                                               \
        }                                                                                          \
        for (int32_t one_ = (p)->channels % 4; one_ > 0; one_--) {                                 \
            float state_ = (least);                                                                \
            MG_POOL_ONE_F32(kernel##_step, (p), (window), c_, state_);                             \
            (output)[c_] = kernel##_result((p), state_, count_);                                   \
            c_++;                                                                                  \
        }                                                                                          \
    } while (0)

/* The same for all windows. These are macros as MG_POOL is. */
#define MG_POOL_BLOCKS_F32(kernel, least, p, input, output)                                        \
    do {                                                                                           \
        float *to_ = (output);                                                                     \
        for (int32_t n_ = 0; n_ < (p)->batches; n_++) {                                            \
            const float *image_ =                                                                  \
                &(input)[n_ * (p)->input_height * (p)->input_width * (p)->channels];               \
            for (int32_t y_ = 0; y_ < (p)->output_height; y_++) {                                  \
                for (int32_t x_ = 0; x_ < (p)->output_width; x_++) {                               \
                    const mg_pool_window_f32 window_ = mg_pool_window_f32_at((p), image_, y_, x_); \
                    MG_POOL_PIXEL_F32(kernel, (least), (p), &window_, to_);                        \
                    to_ += (p)->channels;                                                          \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

MG_INLINE void mg_avg_pool2d_f32_blocks_body(const mg_avg_pool2d_f32_blocks_params *p,
                                             const float *input, float *output)
{
    MG_POOL_BLOCKS_F32(mg_avg_pool2d_f32, 0.0F, p, input, output);
}

MG_INLINE void mg_max_pool2d_f32_blocks_body(const mg_max_pool2d_f32_blocks_params *p,
                                             const float *input, float *output)
{
    MG_POOL_BLOCKS_F32(mg_max_pool2d_f32, -FLT_MAX, p, input, output);
}

#ifdef MG_POOL2D_F32_BLOCKS_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_avg_pool2d_f32_blocks, float, float)
MG_DEFINE_UNARY(mg_max_pool2d_f32_blocks, float, float)
#endif

#endif
