/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int8 with int32 accumulators, of weights with a zero point. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_OFFSET_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_OFFSET_H

#include <stddef.h>

#include "microgen/depthwise/depthwise_conv2d_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

typedef struct {
    mg_depthwise_conv2d_s8_params conv;
    int32_t weight_offset; /* minus the weight's zero point: -127 to 128 */
} mg_depthwise_conv2d_s8_offset_params;

/* The sum of products of one output channel's filter and its window, as
 * mg_depthwise_conv2d_s8_dot. */
MG_INLINE int32_t mg_depthwise_conv2d_s8_offset_dot(const mg_depthwise_conv2d_s8_offset_params *p,
                                                    const int8_t *input, const int8_t *weight,
                                                    int32_t batch, int32_t output_channel,
                                                    int32_t origin_y, int32_t origin_x)
{
    const mg_depthwise_conv2d_s8_params *q = &p->conv;
    MG_TAPS_OF(q, origin_y, origin_x);
    const int32_t input_channel = output_channel / q->depth_multiplier;
    const int32_t output_channels = q->input_channels * q->depth_multiplier;
    int32_t sum = 0;

    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
        for (int32_t kx = columns.begin; kx < columns.end; kx++) {
            const int32_t y = origin_y + ky * q->dilation_height;
            const int32_t x = origin_x + kx * q->dilation_width;
            const int8_t value =
                input[mg_nhwc(batch, y, x, q->input_height, q->input_width, q->input_channels) +
                      input_channel];
            const int8_t tap =
                weight[mg_nhwc(0, ky, kx, q->kernel_height, q->kernel_width, output_channels) +
                       output_channel];
            sum += (value + q->input_offset) * (tap + p->weight_offset);
        }
    }
    return sum;
}

/* Computes the same as mg_depthwise_conv2d_s8_body with the same arguments, but with weight +
 * weight_offset instead of weight. */
MG_BODY(mg_depthwise_conv2d_s8_offset, int8_t, int requantization)
{
    const mg_depthwise_conv2d_s8_params *q = &p->conv;
    const mg_scaling scaling = MG_SCALING_OF(q, multiplier, shift);
    const int32_t output_channels = q->input_channels * q->depth_multiplier;

    for (int32_t n = 0; n < q->batches; n++) {
        for (int32_t y = 0; y < q->output_height; y++) {
            for (int32_t x = 0; x < q->output_width; x++) {
                const int32_t pixel =
                    mg_nhwc(n, y, x, q->output_height, q->output_width, output_channels);
                for (int32_t c = 0; c < output_channels; c++) {
                    const int32_t sum = mg_depthwise_conv2d_s8_offset_dot(
                        p, input, weight, n, c, y * q->stride_height - q->pad_top,
                        x * q->stride_width - q->pad_left);
                    const int32_t total = sum + ((bias != NULL) ? bias[c] : 0);
                    mg_store(&scaling, output, pixel + c, c, total, requantization);
                }
            }
        }
    }
}

#define MG_DEPTHWISE_CONV2D_S8_OFFSET_PROTOTYPE(name)                                              \
    MG_PROTOTYPE(name, mg_depthwise_conv2d_s8_offset, int8_t)
#define MG_DEPTHWISE_CONV2D_S8_OFFSET_KERNEL(name, ...)                                            \
    MG_KERNEL(name, mg_depthwise_conv2d_s8_offset, int8_t, __VA_ARGS__)

#endif
