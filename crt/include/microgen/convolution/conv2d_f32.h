/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, float32, grouped and dilated. */
#ifndef MICROGEN_CONV2D_F32_H
#define MICROGEN_CONV2D_F32_H

#include <stdint.h>

#include "microgen/blocks/sums_f32.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/inline.h"

typedef struct {
    mg_conv2d_shape shape;
    float activation_min; /* finite */
    float activation_max; /* finite, activation_min or more */
} mg_conv2d_f32_params;

/* Convolves input [batches][input_height][input_width][input_channels] with weight
 * [output_channels][kernel_height][kernel_width][filter_channels] into output
 * [batches][output_height][output_width][output_channels].
 *
 * Each output is the sum of the products in the order of the weights, plus the bias, clamped.
 * Padding is 0. bias [output_channels] may be NULL. Output must not overlap the input. */
MG_EXTERN void mg_conv2d_f32(const mg_conv2d_f32_params *p, const float *input, const float *weight,
                             const float *bias, float *output);

/* The sum of products of a filter and its window. */
MG_INLINE float mg_conv2d_f32_sum(const mg_window *window, const float *values, const float *filter)
{
    float sum = 0.0F;

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            sum = mg_dot_f32(sum, &values[row * window->next_row + run * window->next_run],
                             &filter[row * window->next_weight_row + run * window->next_weight_run],
                             window->length);
        }
    }
    return sum;
}

/* The same for four consecutive filters of `size` weights each. */
MG_INLINE mg_sums_f32 mg_conv2d_f32_sums(const mg_window *window, const float *values,
                                         const float *filters, int32_t size)
{
    mg_sums_f32 sums = {0.0F, 0.0F, 0.0F, 0.0F};

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            sums = mg_dot_4_f32(
                sums, &values[row * window->next_row + run * window->next_run],
                &filters[row * window->next_weight_row + run * window->next_weight_run], size,
                window->length);
        }
    }
    return sums;
}

/* Computes channels [first, last) of an output pixel; all of them are of one group. */
MG_INLINE void mg_conv2d_f32_channels(const mg_conv2d_shape *s, const mg_window *window,
                                      const float *values, const float *weight,
                                      const mg_finish_f32 *finish, int32_t first, int32_t last,
                                      float *pixel)
{
    const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;
    const int32_t whole = last - (last - first) % 4;

    for (int32_t c = first; c < whole; c += 4) {
        const mg_sums_f32 sums =
            mg_conv2d_f32_sums(window, values, &weight[c * size + window->weight], size);
        mg_store_4_f32(finish, c, sums, pixel);
    }
    for (int32_t c = whole; c < last; c++) {
        const float sum = mg_conv2d_f32_sum(window, values, &weight[c * size + window->weight]);
        pixel[c] = mg_finished_f32(finish, c, sum);
    }
}

MG_INLINE void mg_conv2d_f32_body(const mg_conv2d_f32_params *p, const float *input,
                                  const float *weight, const float *bias, float *output)
{
    const mg_finish_f32 finish = {bias, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t group = mg_group_outputs(s);
    float *pixel = output;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            for (int32_t x = 0; x < s->output_width; x++) {
                const mg_window window = mg_conv2d_window_at(s, n, y, x);
                const float *values = &input[window.value];
                for (int32_t first = 0; first < s->output_channels; first += group) {
                    mg_conv2d_f32_channels(s, &window, values, weight, &finish, first,
                                           first + group, pixel);
                    values += s->filter_channels;
                }
                pixel += s->output_channels;
            }
        }
    }
}

#ifdef MG_CONV2D_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_f32, (p, input, weight, bias, output), const mg_conv2d_f32_params *p,
               const float *input, const float *weight, const float *bias, float *output)
#endif

#endif
