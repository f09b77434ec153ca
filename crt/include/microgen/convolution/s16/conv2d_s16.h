/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, int16 with int8 weights and int64 accumulators, grouped and dilated. */
#ifndef MICROGEN_CONV2D_S16_H
#define MICROGEN_CONV2D_S16_H

#include <stdint.h>

#include "microgen/blocks/sums_s16.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/inline.h"
#include "microgen/requantization/requantize_s16.h"

typedef struct {
    mg_conv2d_shape shape;
    int32_t rounding;       /* MG_ROUND_DOUBLE or MG_ROUND_REDUCED */
    int32_t activation_min; /* -32768 to 32767 */
    int32_t activation_max; /* activation_min to 32767 */
} mg_conv2d_s16_params;

/* Convolves input [batches][input_height][input_width][input_channels] with weight
 * [output_channels][kernel_height][kernel_width][filter_channels] into output
 * [batches][output_height][output_width][output_channels].
 *
 * bias [output_channels] may be NULL. multiplier and shift have output_channels elements;
 * microgen/requantization/requantize_s16.h describes them. Output must not overlap the input. The
 * magnitude of every sum of bias and products must be below 2^47. */
MG_EXTERN void mg_conv2d_s16(const mg_conv2d_s16_params *p, const int16_t *input,
                             const int8_t *weight, const int64_t *bias, const int32_t *multiplier,
                             const int8_t *shift, int16_t *output);

/* The sum of products of a filter and its window. */
MG_INLINE int64_t mg_conv2d_s16_sum(const mg_window *window, const int16_t *values,
                                    const int8_t *filter)
{
    int64_t sum = 0;

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            sum = mg_dot_s16(sum, &values[row * window->next_row + run * window->next_run],
                             &filter[row * window->next_weight_row + run * window->next_weight_run],
                             window->length);
        }
    }
    return sum;
}

/* The same for four consecutive filters of `size` weights each. */
MG_INLINE mg_sums_s16 mg_conv2d_s16_sums(const mg_window *window, const int16_t *values,
                                         const int8_t *filters, int32_t size)
{
    mg_sums_s16 sums = {0, 0, 0, 0};

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            sums = mg_dot_4_s16(
                sums, &values[row * window->next_row + run * window->next_run],
                &filters[row * window->next_weight_row + run * window->next_weight_run], size,
                window->length);
        }
    }
    return sums;
}

/* Computes channels [first, last) of an output pixel; all of them are of one group. */
MG_INLINE void mg_conv2d_s16_channels(const mg_conv2d_shape *s, const mg_window *window,
                                      const int16_t *values, const int8_t *weight,
                                      const mg_scaling_s16 *scaling, int32_t first, int32_t last,
                                      int16_t *pixel)
{
    const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;
    const int32_t whole = last - (last - first) % 4;

    for (int32_t c = first; c < whole; c += 4) {
        const mg_sums_s16 sums =
            mg_conv2d_s16_sums(window, values, &weight[c * size + window->weight], size);
        mg_store_4_s16(scaling, c, sums, pixel);
    }
    for (int32_t c = whole; c < last; c++) {
        const int64_t sum = mg_conv2d_s16_sum(window, values, &weight[c * size + window->weight]);
        pixel[c] = mg_scaled_s16(scaling, c, sum);
    }
}

MG_INLINE void mg_conv2d_s16_body(const mg_conv2d_s16_params *p, const int16_t *input,
                                  const int8_t *weight, const int64_t *bias,
                                  const int32_t *multiplier, const int8_t *shift, int16_t *output)
{
    const mg_scaling_s16 scaling = {bias,        multiplier,        shift,
                                    p->rounding, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t group = mg_group_outputs(s);
    int16_t *pixel = output;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            for (int32_t x = 0; x < s->output_width; x++) {
                const mg_window window = mg_conv2d_window_at(s, n, y, x);
                const int16_t *values = &input[window.value];
                for (int32_t first = 0; first < s->output_channels; first += group) {
                    mg_conv2d_s16_channels(s, &window, values, weight, &scaling, first,
                                           first + group, pixel);
                    values += s->filter_channels;
                }
                pixel += s->output_channels;
            }
        }
    }
}

#ifdef MG_CONV2D_S16_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_s16, (p, input, weight, bias, multiplier, shift, output),
               const mg_conv2d_s16_params *p, const int16_t *input, const int8_t *weight,
               const int64_t *bias, const int32_t *multiplier, const int8_t *shift, int16_t *output)
#endif

#endif
