/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, float32: every input channel has filters of its own. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_F32_H
#define MICROGEN_DEPTHWISE_CONV2D_F32_H

#include "microgen/blocks/sums_f32.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/out_of_line.h"

/* filter_channels is 1. */
typedef mg_conv2d_f32_params mg_depthwise_conv2d_f32_params;

/* Convolves input [batches][input_height][input_width][input_channels] with weight
 * [1][kernel_height][kernel_width][output_channels] into output
 * [batches][output_height][output_width][output_channels]. Output channel c reads input channel
 * c / (output_channels / input_channels).
 *
 * Each output is the sum of the products in the order of the taps, plus the bias, clamped. Padding
 * is 0. bias [output_channels] may be NULL. Output must not overlap the input. */
MG_EXTERN void mg_depthwise_conv2d_f32(MG_ARGUMENTS_F32(mg_depthwise_conv2d_f32));

/* The sum of products of output channel c's filter and the window of its input channel. */
MG_INLINE float mg_depthwise_conv2d_f32_sum(const mg_window *window, const float *values,
                                            const float *weight)
{
    float sum = 0.0F;

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            sum += values[row * window->next_row + run * window->next_run] *
                   weight[row * window->next_weight_row + run * window->next_weight_run];
        }
    }
    return sum;
}

/* The same for channels c to c + 3. Each input channel has `multiplier` output channels. */
MG_INLINE mg_sums_f32 mg_depthwise_conv2d_f32_sums(const mg_window *window, const float *values,
                                                   const float *weight, int32_t c,
                                                   int32_t multiplier)
{
    const int32_t first = c / multiplier;
    const int32_t second = (c + 1) / multiplier - first;
    const int32_t third = (c + 2) / multiplier - first;
    const int32_t fourth = (c + 3) / multiplier - first;
    mg_sums_f32 sums = {0.0F, 0.0F, 0.0F, 0.0F};

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            const float *value = &values[first + row * window->next_row + run * window->next_run];
            const float *tap =
                &weight[c + row * window->next_weight_row + run * window->next_weight_run];
            sums.a += value[0] * tap[0];
            sums.b += value[second] * tap[1];
            sums.c += value[third] * tap[2];
            sums.d += value[fourth] * tap[3];
        }
    }
    return sums;
}

/* Computes one output pixel. */
MG_INLINE void mg_depthwise_conv2d_f32_pixel(const mg_conv2d_shape *s, const mg_window *window,
                                             const float *input, const float *weight,
                                             const mg_finish_f32 *finish, float *pixel)
{
    const float *values = &input[window->value];
    const float *filter = &weight[window->weight];
    const int32_t multiplier = s->output_channels / s->input_channels;
    const int32_t whole = s->output_channels - s->output_channels % 4;

    for (int32_t c = 0; c < whole; c += 4) {
        mg_store_4_f32(finish, c,
                       mg_depthwise_conv2d_f32_sums(window, values, filter, c, multiplier), pixel);
    }
    for (int32_t c = whole; c < s->output_channels; c++) {
        const float sum = mg_depthwise_conv2d_f32_sum(window, &values[c / multiplier], &filter[c]);
        pixel[c] = mg_finished_f32(finish, c, sum);
    }
}

MG_INLINE void mg_depthwise_conv2d_f32_body(MG_ARGUMENTS_F32(mg_depthwise_conv2d_f32))
{
    const mg_finish_f32 finish = {bias, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;

    MG_EACH_WINDOW(s, mg_depthwise_window_at, float, output,
                   mg_depthwise_conv2d_f32_pixel(s, &window, input, weight, &finish, pixel));
}

#ifdef MG_DEPTHWISE_CONV2D_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_depthwise_conv2d_f32, (p, input, weight, bias, output),
               MG_ARGUMENTS_F32(mg_depthwise_conv2d_f32))
#endif

#endif
