/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int16 with int8 weights and int64 accumulators: every input channel
 * has filters of its own. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S16_H
#define MICROGEN_DEPTHWISE_CONV2D_S16_H

#include "microgen/blocks/sums_s16.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/out_of_line.h"

/* filter_channels is 1. */
typedef mg_conv2d_s16_params mg_depthwise_conv2d_s16_params;

/* Convolves input [batches][input_height][input_width][input_channels] with weight
 * [1][kernel_height][kernel_width][output_channels] into output
 * [batches][output_height][output_width][output_channels]. Output channel c reads input channel
 * c / (output_channels / input_channels).
 *
 * bias [output_channels] may be NULL. multiplier and shift have output_channels elements;
 * microgen/requantization/requantize_s16.h describes them. Output must not overlap the input.
 * kernel_width must be at most MG_PRODUCTS_S16. The magnitude of every sum of bias and products
 * must be below 2^47. */
MG_EXTERN void mg_depthwise_conv2d_s16(MG_ARGUMENTS_S16(mg_depthwise_conv2d_s16));

/* The sum of one channel's products in `rows` rows, at most MG_PRODUCTS_S16 products. */
MG_INLINE int32_t mg_depthwise_conv2d_s16_few(const mg_window *window, int32_t rows,
                                              const int16_t *values, const int8_t *weight)
{
    int32_t sum = 0;

    for (int32_t row = 0; row < rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            sum += values[row * window->next_row + run * window->next_run] *
                   weight[row * window->next_weight_row + run * window->next_weight_run];
        }
    }
    return sum;
}

/* sums + the same for channels c to c + 3. Each input channel has `multiplier` output channels. */
MG_INLINE mg_sums_s16 mg_depthwise_conv2d_s16_few_4(mg_sums_s16 sums, const mg_window *window,
                                                    int32_t rows, const int16_t *values,
                                                    const int8_t *weight, int32_t c,
                                                    int32_t multiplier)
{
    const int32_t first = c / multiplier;
    const int32_t second = (c + 1) / multiplier - first;
    const int32_t third = (c + 2) / multiplier - first;
    const int32_t fourth = (c + 3) / multiplier - first;
    int32_t sum_a = 0;
    int32_t sum_b = 0;
    int32_t sum_c = 0;
    int32_t sum_d = 0;

    for (int32_t row = 0; row < rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            const int16_t *value = &values[first + row * window->next_row + run * window->next_run];
            const int8_t *tap =
                &weight[c + row * window->next_weight_row + run * window->next_weight_run];
            sum_a += value[0] * tap[0];
            sum_b += value[second] * tap[1];
            sum_c += value[third] * tap[2];
            sum_d += value[fourth] * tap[3];
        }
    }
    sums.a += sum_a;
    sums.b += sum_b;
    sums.c += sum_c;
    sums.d += sum_d;
    return sums;
}

/* Computes one output pixel. */
MG_INLINE void mg_depthwise_conv2d_s16_pixel(const mg_conv2d_shape *s, const mg_window *window,
                                             const int16_t *input, const int8_t *weight,
                                             const mg_scaling_s16 *scaling, int16_t *pixel)
{
    const int16_t *values = &input[window->value];
    const int8_t *filter = &weight[window->weight];
    const int32_t multiplier = s->output_channels / s->input_channels;
    const int32_t step = MG_PRODUCTS_S16 / s->kernel_width; /* rows whose sums fit int32 */
    const int32_t whole = s->output_channels - s->output_channels % 4;

    for (int32_t c = 0; c < whole; c += 4) {
        mg_sums_s16 sums = {0, 0, 0, 0};
        for (int32_t row = 0; row < window->rows; row += step) {
            sums = mg_depthwise_conv2d_s16_few_4(
                sums, window, mg_at_most(window->rows - row, step), &values[row * window->next_row],
                &filter[row * window->next_weight_row], c, multiplier);
        }
        mg_store_4_s16(scaling, c, sums, pixel);
    }
    for (int32_t c = whole; c < s->output_channels; c++) {
        int64_t sum = 0;
        for (int32_t row = 0; row < window->rows; row += step) {
            sum += mg_depthwise_conv2d_s16_few(window, mg_at_most(window->rows - row, step),
                                               &values[row * window->next_row + c / multiplier],
                                               &filter[row * window->next_weight_row + c]);
        }
        pixel[c] = mg_scaled_s16(scaling, c, sum);
    }
}

MG_INLINE void mg_depthwise_conv2d_s16_body(MG_ARGUMENTS_S16(mg_depthwise_conv2d_s16))
{
    const mg_scaling_s16 scaling = {bias,        multiplier,        shift,
                                    p->rounding, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;

    MG_EACH_WINDOW(s, mg_depthwise_window_at, int16_t, output,
                   mg_depthwise_conv2d_s16_pixel(s, &window, input, weight, &scaling, pixel));
}

#ifdef MG_DEPTHWISE_CONV2D_S16_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_depthwise_conv2d_s16, (p, input, weight, bias, multiplier, shift, output),
               MG_ARGUMENTS_S16(mg_depthwise_conv2d_s16))
#endif

#endif
