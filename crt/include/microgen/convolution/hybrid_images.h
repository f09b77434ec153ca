/* SPDX-License-Identifier: Apache-2.0 */
/* The loop that hybrid convolutions share: each image is quantized, and its pixels are computed. */
#ifndef MICROGEN_HYBRID_IMAGES_H
#define MICROGEN_HYBRID_IMAGES_H

#include "microgen/blocks/hybrid.h"
#include "microgen/convolution/conv2d_window.h"

/* Computes the output of a hybrid convolution. Each image is quantized into `scratch`, with a zero
 * point if `asymmetric` is 1. `window_at` is the function of conv2d_window.h for the kind of
 * convolution. Calls pixel(shape, window, image, meaning, weight, finish, output) for each pixel of
 * the output. This is a macro so that `pixel` is inlined at every optimisation level. */
#define MG_HYBRID_IMAGES(pixel, window_at, asymmetric, p, input, weight, finish, output, scratch)  \
    do {                                                                                           \
        const mg_conv2d_shape *s_ = &(p)->shape;                                                   \
        const int32_t size_ = s_->input_height * s_->input_width * s_->input_channels;             \
        int8_t *image_ = (int8_t *)(scratch);                                                      \
        float *pixel_ = (output);                                                                  \
        for (int32_t n_ = 0; n_ < s_->batches; n_++) {                                             \
            const mg_hybrid meaning_ =                                                             \
                mg_quantize_hybrid(&(input)[n_ * size_], size_, (asymmetric), image_);             \
            for (int32_t y_ = 0; y_ < s_->output_height; y_++) {                                   \
                for (int32_t x_ = 0; x_ < s_->output_width; x_++) {                                \
                    const mg_window window_ = window_at(s_, 0, y_, x_);                            \
                    pixel(s_, &window_, image_, meaning_, (weight), (finish), pixel_);             \
                    pixel_ += s_->output_channels;                                                 \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#endif
