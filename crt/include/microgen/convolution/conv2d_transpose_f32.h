/* SPDX-License-Identifier: Apache-2.0 */
/* Transposed 2-D convolution, float32. */
#ifndef MICROGEN_CONV2D_TRANSPOSE_F32_H
#define MICROGEN_CONV2D_TRANSPOSE_F32_H

#include "microgen/blocks/sums_f32.h"
#include "microgen/convolution/conv2d_f32.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/out_of_line.h"

/* Strides and padding are those of the forward convolution. */
typedef mg_conv2d_f32_params mg_conv2d_transpose_f32_params;

/* For every pixel (y, x) of input [batches][input_height][input_width][input_channels], adds its
 * product with weight [output_channels][kernel_height][kernel_width][input_channels] to the full
 * result at (y * stride_height, x * stride_width). Then writes the part of the full result that
 * begins at (pad_top, pad_left) to output [batches][output_height][output_width][output_channels].
 * The output may reach beyond the full result, which is 0 there.
 *
 * Products are added in the order of the pixels, then the bias, and the sum is clamped. bias
 * [output_channels] may be NULL. Output must not overlap the input. */
MG_EXTERN void mg_conv2d_transpose_f32(MG_ARGUMENTS_F32(mg_conv2d_transpose_f32));

MG_INLINE void mg_conv2d_transpose_f32_body(MG_ARGUMENTS_F32(mg_conv2d_transpose_f32))
{
    const mg_finish_f32 finish = {bias, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;

    MG_EACH_WINDOW(s, mg_conv2d_transpose_window_at, float, output,
                   mg_conv2d_f32_channels(s, &window, &input[window.value], weight, &finish, 0,
                                          s->output_channels, pixel));
}

#ifdef MG_CONV2D_TRANSPOSE_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_transpose_f32, (p, input, weight, bias, output),
               MG_ARGUMENTS_F32(mg_conv2d_transpose_f32))
#endif

#endif
