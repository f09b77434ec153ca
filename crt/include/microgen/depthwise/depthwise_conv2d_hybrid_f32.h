/* SPDX-License-Identifier: Apache-2.0 */
/* Hybrid 2-D depthwise convolution: float32 with int8 weights, computed in integers. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_HYBRID_F32_H
#define MICROGEN_DEPTHWISE_CONV2D_HYBRID_F32_H

#include "microgen/convolution/hybrid_images.h"
#include "microgen/out_of_line.h"

/* filter_channels is 1. */
typedef mg_conv2d_f32_params mg_depthwise_conv2d_hybrid_f32_params;

/* Convolves input [batches][input_height][input_width][input_channels], each image quantized to
 * int8, with weight [1][kernel_height][kernel_width][output_channels] into output
 * [batches][output_height][output_width][output_channels]. Output channel c reads input channel
 * c / (output_channels / input_channels).
 *
 * bias [output_channels] may be NULL. scale [output_channels] contains the weight's scales. scratch
 * must have input_height * input_width * input_channels bytes. Output must not overlap the input.
 * Sums of products must fit int32, partial sums included. */
MG_EXTERN void mg_depthwise_conv2d_hybrid_f32(MG_ARGUMENTS_HYBRID(mg_depthwise_conv2d_hybrid_f32));

/* The sum of products of an output channel's filter and the window of its input channel. */
MG_INLINE int32_t mg_depthwise_conv2d_hybrid_sum(const mg_window *window, const int8_t *values,
                                                 int32_t offset, const int8_t *weight)
{
    int32_t sum = 0;

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            sum += (values[row * window->next_row + run * window->next_run] + offset) *
                   weight[row * window->next_weight_row + run * window->next_weight_run];
        }
    }
    return sum;
}

/* Computes one output pixel. */
MG_INLINE void mg_depthwise_conv2d_hybrid_pixel(const mg_conv2d_shape *s, const mg_window *window,
                                                const int8_t *image, mg_hybrid meaning,
                                                const int8_t *weight,
                                                const mg_finish_hybrid *finish, float *pixel)
{
    const int32_t multiplier = s->output_channels / s->input_channels;

    for (int32_t c = 0; c < s->output_channels; c++) {
        const int32_t sum =
            mg_depthwise_conv2d_hybrid_sum(window, &image[window->value + c / multiplier],
                                           meaning.offset, &weight[window->weight + c]);
        pixel[c] = mg_finished_hybrid(finish, c, meaning.scale, sum);
    }
}

MG_INLINE void
mg_depthwise_conv2d_hybrid_f32_body(MG_ARGUMENTS_HYBRID(mg_depthwise_conv2d_hybrid_f32))
{
    const mg_finish_hybrid finish = {bias, scale, 1, p->activation_min, p->activation_max};

    MG_HYBRID_IMAGES(mg_depthwise_conv2d_hybrid_pixel, mg_depthwise_window_at, 1, p, input, weight,
                     &finish, output, scratch);
}

#ifdef MG_DEPTHWISE_CONV2D_HYBRID_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_depthwise_conv2d_hybrid_f32, (p, input, weight, bias, scale, output, scratch),
               MG_ARGUMENTS_HYBRID(mg_depthwise_conv2d_hybrid_f32))
#endif

#endif
