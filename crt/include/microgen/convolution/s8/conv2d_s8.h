/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, int8 with int32 accumulators, grouped and dilated. */
#ifndef MICROGEN_CONV2D_S8_H
#define MICROGEN_CONV2D_S8_H

#include <stddef.h>

#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

typedef struct {
    /* input_channels is groups * filter_channels. */
    MG_IMAGE_SIZES(input_channels)
    int32_t output_channels; /* a multiple of groups */
    int32_t kernel_height;
    int32_t kernel_width;
    int32_t filter_channels; /* input channels that one output channel sees */
    int32_t stride_height;   /* 1 to 32767, like all strides and dilations */
    int32_t stride_width;
    int32_t dilation_height; /* its product with the size of an input row fits int32 */
    int32_t dilation_width;
    int32_t pad_top;  /* rows of zero points above the input, 0 to 32767 */
    int32_t pad_left; /* columns of zero points before the input, 0 to 32767 */
    MG_OFFSETS_AND_CLAMP
} mg_conv2d_s8_params;

/* The sum of products of one output channel's filter and its window. *weight_offset is added to
 * each weight. `first_channel` is the group's first input channel. (origin_y, origin_x) is the
 * position of tap (0, 0) in the input. */
MG_INLINE int32_t mg_conv2d_s8_dot(const mg_conv2d_s8_params *p, const int8_t *input,
                                   const int8_t *weight, const int32_t *weight_offset,
                                   int32_t batch, int32_t output_channel, int32_t first_channel,
                                   int32_t origin_y, int32_t origin_x)
{
    MG_TAPS_OF(p, origin_y, origin_x);
    int32_t sum = 0;

    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
        for (int32_t kx = columns.begin; kx < columns.end; kx++) {
            const int32_t y = origin_y + ky * p->dilation_height;
            const int32_t x = origin_x + kx * p->dilation_width;
            const int8_t *pixel =
                &input[mg_nhwc(batch, y, x, p->input_height, p->input_width, p->input_channels) +
                       first_channel];
            const int8_t *tap = &weight[mg_nhwc(output_channel, ky, kx, p->kernel_height,
                                                p->kernel_width, p->filter_channels)];
            for (int32_t c = 0; c < p->filter_channels; c++) {
                sum += (pixel[c] + p->input_offset) * (tap[c] + *weight_offset);
            }
        }
    }
    return sum;
}

/* The body with weight + *weight_offset instead of weight. It is read where it is added, so that it
 * needs no register in between. */
MG_INLINE void mg_conv2d_s8_with(const mg_conv2d_s8_params *p, const int8_t *input,
                                 const int8_t *weight, const int32_t *weight_offset,
                                 const int32_t *bias, const int32_t *multiplier,
                                 const int8_t *shift, void *output, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const int32_t group_outputs = p->output_channels / (p->input_channels / p->filter_channels);

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            for (int32_t x = 0; x < p->output_width; x++) {
                const int32_t pixel =
                    mg_nhwc(n, y, x, p->output_height, p->output_width, p->output_channels);
                for (int32_t c = 0; c < p->output_channels; c++) {
                    const int32_t sum = mg_conv2d_s8_dot(p, input, weight, weight_offset, n, c,
                                                         c / group_outputs * p->filter_channels,
                                                         y * p->stride_height - p->pad_top,
                                                         x * p->stride_width - p->pad_left);
                    const int32_t total = sum + ((bias != NULL) ? bias[c] : 0);
                    mg_store(&scaling, output, pixel + c, c, total, requantization);
                }
            }
        }
    }
}

/* Convolves input [batches][input_height][input_width][input_channels] with weight
 * [output_channels][kernel_height][kernel_width][filter_channels] into output
 * [batches][output_height][output_width][output_channels]. With v = input + input_offset, an output
 * is clamp(requantize(bias + sum of v * weight) + output_offset). Padding adds nothing to the sum.
 *
 * `requantization` is a constant of microgen/requantization/scaling_s8.h. multiplier and shift have
 * output_channels elements, or are NULL for MG_SUMS, whose outputs are the int32 sums. bias
 * [output_channels] may be NULL. Output must not overlap the input. The sum of bias and products
 * must fit int32, partial sums included. */
MG_BODY(mg_conv2d_s8, int8_t, int requantization)
{
    const int32_t none = 0;
    mg_conv2d_s8_with(p, input, weight, &none, bias, multiplier, shift, output, requantization);
}

#define MG_CONV2D_S8_PROTOTYPE(name) MG_PROTOTYPE(name, mg_conv2d_s8, int8_t)
#define MG_CONV2D_S8_KERNEL(name, ...) MG_KERNEL(name, mg_conv2d_s8, int8_t, __VA_ARGS__)

/* 2-D convolution, int8 with int32 accumulators, grouped and dilated, of weights with a zero point.
 */
typedef struct {
    mg_conv2d_s8_params conv;
    int32_t weight_offset; /* minus the weight's zero point: -127 to 128 */
} mg_conv2d_s8_offset_params;

/* Computes the same as mg_conv2d_s8_body with the same arguments, but with weight + weight_offset
 * instead of weight. */
MG_BODY(mg_conv2d_s8_offset, int8_t, int requantization)
{
    mg_conv2d_s8_with(&p->conv, input, weight, &p->weight_offset, bias, multiplier, shift, output,
                      requantization);
}

#define MG_CONV2D_S8_OFFSET_PROTOTYPE(name) MG_PROTOTYPE(name, mg_conv2d_s8_offset, int8_t)
#define MG_CONV2D_S8_OFFSET_KERNEL(name, ...)                                                      \
    MG_KERNEL(name, mg_conv2d_s8_offset, int8_t, __VA_ARGS__)

#endif
