/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution and transposed convolution, float32, whose weights are stored as integers. */
#ifndef MICROGEN_CONV2D_WEIGHT_ONLY_F32_H
#define MICROGEN_CONV2D_WEIGHT_ONLY_F32_H

#include "microgen/convolution/conv2d_f32.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/weight_only/weight_only.h"

/* The direction, a constant of the body. */
#define MG_FORWARD 0
#define MG_TRANSPOSED 1

#define MG_FILTERS 4 /* that are dequantized at a time */

typedef struct {
    mg_conv2d_shape shape; /* of a transposed convolution, as in mg_conv2d_transpose_f32 */
    int32_t per_channel;   /* 1: one scale per filter; 0: one for all */
    float activation_min;  /* finite */
    float activation_max;  /* finite, activation_min or more */
} mg_conv2d_weight_only_f32_params;

/* Computes channels c to c + count - 1 of an output pixel, at most MG_FILTERS, from dequantized
 * filters of `size` weights. `values` is the first channel of the group's input. */
MG_INLINE void mg_conv2d_weight_only_pixel(const mg_window *window, const float *values,
                                           const float *filters, int32_t size,
                                           const mg_finish_f32 *finish, int32_t c, int32_t count,
                                           float *pixel)
{
    const float *first = &values[window->value];
    const float *taps = &filters[window->weight];

    if (count == MG_FILTERS) {
        mg_store_4_f32(finish, c, mg_conv2d_f32_sums(window, first, taps, size), pixel);
        return;
    }
    for (int32_t k = 0; k < count; k++) {
        const float sum = mg_conv2d_f32_sum(window, first, &taps[k * size]);
        pixel[c + k] = mg_finished_f32(finish, c + k, sum);
    }
}

/* The kernels mg_conv2d_weight_only_f32, mg_conv2d_weight_only_f32_int4,
 * mg_conv2d_transpose_weight_only_f32 and mg_conv2d_transpose_weight_only_f32_int4. Computes the
 * same as mg_conv2d_f32, or mg_conv2d_transpose_f32, with the dequantized weights,
 * stored as the constant `weights` says.
 *
 * scale has output_channels elements if per_channel is 1, otherwise one. scratch must have space
 * for the floats of MG_FILTERS filters, or of a group's if there are fewer. Output must not overlap
 * the input. */
MG_INLINE void mg_conv2d_weight_only_f32_body(MG_ARGUMENTS_WEIGHT_ONLY(mg_conv2d_weight_only_f32),
                                              uint8_t *scratch, int weights, int direction)
{
    const mg_finish_f32 finish = {bias, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;
    const int32_t row_bytes = mg_row_bytes_stored(size, weights);
    const int32_t group = (direction == MG_TRANSPOSED) ? s->output_channels : mg_group_outputs(s);
    float *filters = (float *)(void *)scratch;
    int32_t count = 0;

    for (int32_t c = 0; c < s->output_channels; c += count) {
        const int32_t left = group - c % group;
        const float *values = &input[c / group * s->filter_channels];

        count = (left < MG_FILTERS) ? left : MG_FILTERS;
        for (int32_t k = 0; k < count; k++) {
            mg_dequantize_row(mg_row_stored(weight, c + k, row_bytes), size,
                              scale[(p->per_channel != 0) ? c + k : 0], &filters[k * size],
                              weights);
        }
        if (direction == MG_TRANSPOSED) {
            MG_EACH_WINDOW(s, mg_conv2d_transpose_window_at, float, output,
                           mg_conv2d_weight_only_pixel(&window, values, filters, size, &finish, c,
                                                       count, pixel));
        } else {
            MG_EACH_WINDOW(s, mg_conv2d_window_at, float, output,
                           mg_conv2d_weight_only_pixel(&window, values, filters, size, &finish, c,
                                                       count, pixel));
        }
    }
}

#define MG_CONV2D_WEIGHT_ONLY_F32_PROTOTYPE(name)                                                  \
    MG_PROTOTYPE_WEIGHT_ONLY_SCRATCH(name, mg_conv2d_weight_only_f32)
#define MG_CONV2D_WEIGHT_ONLY_F32_KERNEL(name, ...)                                                \
    MG_KERNEL_WEIGHT_ONLY_SCRATCH(name, mg_conv2d_weight_only_f32, __VA_ARGS__)

#endif
