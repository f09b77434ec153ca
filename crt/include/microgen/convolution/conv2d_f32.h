/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, float32, grouped and dilated. */
#ifndef MICROGEN_CONV2D_F32_H
#define MICROGEN_CONV2D_F32_H

#include "microgen/blocks/sums_f32.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/out_of_line.h"

/* Convolves input [batches][input_height][input_width][input_channels] with weight
 * [output_channels][kernel_height][kernel_width][filter_channels] into output
 * [batches][output_height][output_width][output_channels].
 *
 * Each output is the sum of the products in the order of the weights, plus the bias, clamped.
 * Padding is 0. bias [output_channels] may be NULL. Output must not overlap the input. */
MG_EXTERN void mg_conv2d_f32(MG_ARGUMENTS_F32(mg_conv2d_f32));

MG_CONV2D_SUMS(f32, float, float, float, mg_finish_f32, mg_finished_f32)

MG_INLINE void mg_conv2d_f32_body(MG_ARGUMENTS_F32(mg_conv2d_f32))
{
    const mg_finish_f32 finish = {bias, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t group = mg_group_outputs(s);

    MG_EACH_WINDOW(s, mg_conv2d_window_at, float, output,
                   mg_conv2d_f32_pixel(s, &window, input, weight, &finish, group, pixel));
}

#ifdef MG_CONV2D_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_f32, (p, input, weight, bias, output), MG_ARGUMENTS_F32(mg_conv2d_f32))
#endif

#endif
