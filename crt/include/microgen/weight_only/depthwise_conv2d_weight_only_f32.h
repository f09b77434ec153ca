/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, float32, whose weights are stored as integers. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_WEIGHT_ONLY_F32_H
#define MICROGEN_DEPTHWISE_CONV2D_WEIGHT_ONLY_F32_H

#include "microgen/depthwise/depthwise_conv2d_f32.h"
#include "microgen/weight_only/weight_only.h"

typedef struct {
    mg_conv2d_shape shape; /* filter_channels is 1 */
    int32_t per_channel;   /* 1: one scale per output channel; 0: one for all */
    float activation_min;  /* finite */
    float activation_max;  /* finite, activation_min or more */
} mg_depthwise_conv2d_weight_only_f32_params;

/* The kernels mg_depthwise_conv2d_weight_only_f32 and mg_depthwise_conv2d_weight_only_f32_int4.
 * Computes the same as mg_depthwise_conv2d_f32 with the dequantized weights, stored as the constant
 * `weights` says: weights of 4 bits are one row.
 *
 * scale has output_channels elements if per_channel is 1, otherwise one. scratch must have space
 * for the floats of all weights. Output must not overlap the input. */
MG_INLINE void mg_depthwise_conv2d_weight_only_f32_body(
    MG_ARGUMENTS_WEIGHT_ONLY(mg_depthwise_conv2d_weight_only_f32), uint8_t *scratch, int weights)
{
    const mg_finish_f32 finish = {bias, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t channels = s->output_channels;
    const int32_t taps = s->kernel_height * s->kernel_width;
    float *filters = (float *)(void *)scratch;

    mg_dequantize_row(weight, taps * channels, (p->per_channel != 0) ? 1.0F : scale[0], filters,
                      weights);
    if (p->per_channel != 0) {
        for (int32_t tap = 0; tap < taps; tap++) {
            for (int32_t c = 0; c < channels; c++) {
                filters[tap * channels + c] *= scale[c];
            }
        }
    }
    MG_EACH_WINDOW(s, mg_depthwise_window_at, float, output,
                   mg_depthwise_conv2d_f32_pixel(s, &window, input, filters, &finish, pixel));
}

#define MG_DEPTHWISE_CONV2D_WEIGHT_ONLY_F32_PROTOTYPE(name)                                        \
    MG_PROTOTYPE_WEIGHT_ONLY_SCRATCH(name, mg_depthwise_conv2d_weight_only_f32)
#define MG_DEPTHWISE_CONV2D_WEIGHT_ONLY_F32_KERNEL(name, ...)                                      \
    MG_KERNEL_WEIGHT_ONLY_SCRATCH(name, mg_depthwise_conv2d_weight_only_f32, __VA_ARGS__)

#endif
