/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, int16 with int8 weights and int64 accumulators, grouped and dilated. */
#ifndef MICROGEN_CONV2D_S16_H
#define MICROGEN_CONV2D_S16_H

#include "microgen/blocks/sums_s16.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/requantize_s16.h"

/* Convolves input [batches][input_height][input_width][input_channels] with weight
 * [output_channels][kernel_height][kernel_width][filter_channels] into output
 * [batches][output_height][output_width][output_channels].
 *
 * bias [output_channels] may be NULL. multiplier and shift have output_channels elements;
 * microgen/requantization/requantize_s16.h describes them. Output must not overlap the input. The
 * magnitude of every sum of bias and products must be below 2^47. */
MG_EXTERN void mg_conv2d_s16(MG_ARGUMENTS_S16(mg_conv2d_s16));

MG_CONV2D_SUMS(s16, int16_t, int8_t, int64_t, mg_scaling_s16, mg_scaled_s16)

MG_INLINE void mg_conv2d_s16_body(MG_ARGUMENTS_S16(mg_conv2d_s16))
{
    const mg_scaling_s16 scaling = {bias,        multiplier,        shift,
                                    p->rounding, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t group = mg_group_outputs(s);

    MG_EACH_WINDOW(s, mg_conv2d_window_at, int16_t, output,
                   mg_conv2d_s16_pixel(s, &window, input, weight, &scaling, group, pixel));
}

/* Declare kernels with these parameters and with factors. */
#define MG_DECLARE_CONV2D_S16(symbol, weights)                                                     \
    typedef mg_conv2d_s16_params symbol##_params;                                                  \
    MG_EXTERN void symbol(MG_ARGUMENTS_FACTORED(symbol, weights))
#define MG_DECLARE_CONV2D_S16_SCRATCH(symbol, weights)                                             \
    typedef mg_conv2d_s16_params symbol##_params;                                                  \
    MG_EXTERN void symbol(MG_ARGUMENTS_FACTORED(symbol, weights), uint8_t *scratch)

/* Transposed 2-D convolution, int16 with int8 weights and int64 accumulators. */

/* Strides and padding are those of the forward convolution. */
typedef mg_conv2d_s16_params mg_conv2d_transpose_s16_params;

/* For every pixel (y, x) of input [batches][input_height][input_width][input_channels], adds its
 * product with weight [output_channels][kernel_height][kernel_width][input_channels] to the full
 * result at (y * stride_height, x * stride_width). Then writes the part of the full result that
 * begins at (pad_top, pad_left) to output [batches][output_height][output_width][output_channels].
 * The output may reach beyond the full result, which is 0 there.
 *
 * bias [output_channels] may be NULL. multiplier and shift have output_channels elements;
 * microgen/requantization/requantize_s16.h describes them. Output must not overlap the input. The
 * magnitude of every sum of bias and products must be below 2^47. */
MG_EXTERN void mg_conv2d_transpose_s16(MG_ARGUMENTS_S16(mg_conv2d_transpose_s16));

MG_INLINE void mg_conv2d_transpose_s16_body(MG_ARGUMENTS_S16(mg_conv2d_transpose_s16))
{
    const mg_scaling_s16 scaling = {bias,        multiplier,        shift,
                                    p->rounding, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;

    MG_EACH_WINDOW(s, mg_conv2d_transpose_window_at, int16_t, output,
                   mg_conv2d_s16_channels(s, &window, &input[window.value], weight, &scaling, 0,
                                          s->output_channels, pixel));
}

#ifdef MG_CONV2D_S16_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_conv2d_s16, (p, input, weight, bias, multiplier, shift, output),
               MG_ARGUMENTS_S16(mg_conv2d_s16))
MG_OUT_OF_LINE(mg_conv2d_transpose_s16, (p, input, weight, bias, multiplier, shift, output),
               MG_ARGUMENTS_S16(mg_conv2d_transpose_s16))
#endif

#endif
