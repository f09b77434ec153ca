/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int8 with int32 accumulators: every input channel has filters of its
 * own. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_H

#include <stddef.h>

#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

typedef struct {
    MG_IMAGE_SIZES(input_channels)
    int32_t depth_multiplier; /* output channels per input channel, at least 1 */
    int32_t kernel_height;
    int32_t kernel_width;
    int32_t stride_height; /* 1 to 32767, like all strides and dilations */
    int32_t stride_width;
    int32_t dilation_height; /* its product with the size of an input row fits int32 */
    int32_t dilation_width;
    int32_t pad_top;  /* rows of zero points above the input, 0 to 32767 */
    int32_t pad_left; /* columns of zero points before the input, 0 to 32767 */
    MG_OFFSETS_AND_CLAMP
} mg_depthwise_conv2d_s8_params;

/* The sum of products of one output channel's filter and its window. (origin_y, origin_x) is the
 * position of tap (0, 0) in the input. */
MG_INLINE int32_t mg_depthwise_conv2d_s8_dot(const mg_depthwise_conv2d_s8_params *p,
                                             const int8_t *input, const int8_t *weight,
                                             int32_t batch, int32_t output_channel,
                                             int32_t origin_y, int32_t origin_x)
{
    MG_TAPS_OF(p, origin_y, origin_x);
    const int32_t input_channel = output_channel / p->depth_multiplier;
    const int32_t output_channels = p->input_channels * p->depth_multiplier;
    int32_t sum = 0;

    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
        for (int32_t kx = columns.begin; kx < columns.end; kx++) {
            const int32_t y = origin_y + ky * p->dilation_height;
            const int32_t x = origin_x + kx * p->dilation_width;
            const int8_t value =
                input[mg_nhwc(batch, y, x, p->input_height, p->input_width, p->input_channels) +
                      input_channel];
            const int8_t tap =
                weight[mg_nhwc(0, ky, kx, p->kernel_height, p->kernel_width, output_channels) +
                       output_channel];
            sum += (value + p->input_offset) * tap;
        }
    }
    return sum;
}

/* Convolves input [batches][input_height][input_width][input_channels] with weight
 * [1][kernel_height][kernel_width][output_channels] into output
 * [batches][output_height][output_width][output_channels]. output_channels is
 * input_channels * depth_multiplier, and output channel c reads input channel c / depth_multiplier.
 * With v = input + input_offset, an output is clamp(requantize(bias + sum of v * weight) +
 * output_offset). Padding adds nothing to the sum.
 *
 * `requantization` is a constant of microgen/requantization/scaling_s8.h. multiplier and shift have
 * output_channels elements, or are NULL for MG_SUMS, whose outputs are the int32 sums. bias
 * [output_channels] may be NULL. Output must not overlap the input. The sum of bias and products
 * must fit int32, partial sums included. */
MG_BODY(mg_depthwise_conv2d_s8, int8_t, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const int32_t output_channels = p->input_channels * p->depth_multiplier;

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            for (int32_t x = 0; x < p->output_width; x++) {
                const int32_t pixel =
                    mg_nhwc(n, y, x, p->output_height, p->output_width, output_channels);
                for (int32_t c = 0; c < output_channels; c++) {
                    const int32_t sum = mg_depthwise_conv2d_s8_dot(
                        p, input, weight, n, c, y * p->stride_height - p->pad_top,
                        x * p->stride_width - p->pad_left);
                    const int32_t total = sum + ((bias != NULL) ? bias[c] : 0);
                    mg_store(&scaling, output, pixel + c, c, total, requantization);
                }
            }
        }
    }
}

#define MG_DEPTHWISE_CONV2D_S8_PROTOTYPE(name) MG_PROTOTYPE(name, mg_depthwise_conv2d_s8, int8_t)
#define MG_DEPTHWISE_CONV2D_S8_KERNEL(name, ...)                                                   \
    MG_KERNEL(name, mg_depthwise_conv2d_s8, int8_t, __VA_ARGS__)

/* 2-D depthwise convolution, int8 with int32 accumulators, of weights with a zero point. */
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
