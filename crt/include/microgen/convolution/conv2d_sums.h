/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of a convolution's windows and filters, and the outputs of these sums. */
#ifndef MICROGEN_CONV2D_SUMS_H
#define MICROGEN_CONV2D_SUMS_H

#include "microgen/convolution/conv2d_window.h"

/* Defines, for values and weights of these types, and sums of type `sum_type`:
 *     mg_conv2d_<suffix>_sum       the sum of products of a filter and its window
 *     mg_conv2d_<suffix>_sums      the same for four consecutive filters of `size` weights each
 *     mg_conv2d_<suffix>_channels  computes channels [first, last) of an output pixel; all of them
 *                                  are of one group
 *     mg_conv2d_<suffix>_pixel     computes all channels of an output pixel
 * by mg_dot_<suffix>, mg_dot_4_<suffix> and mg_store_4_<suffix>. finished(finish, c, sum) is the
 * output of channel c, and `finish` has the type `finish_type`. */
#define MG_CONV2D_SUMS(suffix, value_type, weight_type, sum_type, finish_type, finished)           \
    MG_INLINE sum_type mg_conv2d_##suffix##_sum(const mg_window *window, const value_type *values, \
                                                const weight_type *filter)                         \
    {                                                                                              \
        sum_type sum = 0;                                                                          \
        for (int32_t row = 0; row < window->rows; row++) {                                         \
            for (int32_t run = 0; run < window->runs; run++) {                                     \
                sum = mg_dot_##suffix(                                                             \
                    sum, &values[row * window->next_row + run * window->next_run],                 \
                    &filter[row * window->next_weight_row + run * window->next_weight_run],        \
                    window->length);                                                               \
            }                                                                                      \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
    MG_INLINE mg_sums_##suffix mg_conv2d_##suffix##_sums(const mg_window *window,                  \
                                                         const value_type *values,                 \
                                                         const weight_type *filters, int32_t size) \
    {                                                                                              \
        mg_sums_##suffix sums = {0, 0, 0, 0};                                                      \
        for (int32_t row = 0; row < window->rows; row++) {                                         \
            for (int32_t run = 0; run < window->runs; run++) {                                     \
                sums = mg_dot_4_##suffix(                                                          \
                    sums, &values[row * window->next_row + run * window->next_run],                \
                    &filters[row * window->next_weight_row + run * window->next_weight_run], size, \
                    window->length);                                                               \
            }                                                                                      \
        }                                                                                          \
        return sums;                                                                               \
    }                                                                                              \
    MG_INLINE void mg_conv2d_##suffix##_channels(                                                  \
        const mg_conv2d_shape *s, const mg_window *window, const value_type *values,               \
        const weight_type *weight, const finish_type *finish, int32_t first, int32_t last,         \
        value_type *pixel)                                                                         \
    {                                                                                              \
        const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;              \
        const int32_t whole = last - (last - first) % 4;                                           \
        for (int32_t c = first; c < whole; c += 4) {                                               \
            const weight_type *filters = &weight[c * size + window->weight];                       \
            mg_store_4_##suffix(finish, c,                                                         \
                                mg_conv2d_##suffix##_sums(window, values, filters, size), pixel);  \
        }                                                                                          \
        for (int32_t c = whole; c < last; c++) {                                                   \
            const weight_type *filter = &weight[c * size + window->weight];                        \
            pixel[c] = finished(finish, c, mg_conv2d_##suffix##_sum(window, values, filter));      \
        }                                                                                          \
    }                                                                                              \
    MG_INLINE void mg_conv2d_##suffix##_pixel(                                                     \
        const mg_conv2d_shape *s, const mg_window *window, const value_type *input,                \
        const weight_type *weight, const finish_type *finish, int32_t group, value_type *pixel)    \
    {                                                                                              \
        const value_type *values = &input[window->value];                                          \
        for (int32_t first = 0; first < s->output_channels; first += group) {                      \
            mg_conv2d_##suffix##_channels(s, window, values, weight, finish, first, first + group, \
                                          pixel);                                                  \
            values += s->filter_channels;                                                          \
        }                                                                                          \
    }

#endif
