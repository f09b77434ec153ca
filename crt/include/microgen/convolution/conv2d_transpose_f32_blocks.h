/* SPDX-License-Identifier: Apache-2.0 */
/* Transposed 2-D convolution, float32, in blocks of four channels, for cores with an FPU. */
#ifndef MICROGEN_CONV2D_TRANSPOSE_F32_BLOCKS_H
#define MICROGEN_CONV2D_TRANSPOSE_F32_BLOCKS_H

#include "microgen/convolution/conv2d_f32_blocks.h"
#include "microgen/convolution/conv2d_transpose_f32.h"
#include "microgen/out_of_line.h"

typedef mg_conv2d_transpose_f32_params mg_conv2d_transpose_f32_blocks_params;

/* Computes all channels of a pixel, four or more. The last four may be computed together with some
 * that are already known. */
MG_INLINE void mg_conv2d_transpose_f32_pixel(const mg_conv2d_transpose_f32_blocks_params *p,
                                             const mg_window *window, const float *values,
                                             const float *weight, const float *bias, float *pixel,
                                             int fused)
{
    const mg_conv2d_shape *s = &p->shape;
    const mg_range_f32 range = {p->activation_min, p->activation_max};
    const int32_t size = s->kernel_height * s->kernel_width * s->input_channels;
    const int32_t last = s->output_channels - 4;

    for (int32_t c = 0; c < s->output_channels; c += 4) {
        const int32_t from = (c < last) ? c : last;
        const mg_filters_f32 filters = {&weight[from * size + window->weight], size};
        mg_clamp_4_f32(
            range,
            mg_conv2d_f32_pixel_sums(mg_bias_4_f32(bias, from), window, values, filters, fused),
            &pixel[from]);
    }
}

/* Computes the same as mg_conv2d_transpose_f32_body, except that sums begin with the bias and are
 * added as `fused` says. There must be four or more output channels. */
MG_INLINE void mg_conv2d_transpose_f32_blocks_body(MG_ARGUMENTS_F32(mg_conv2d_transpose_f32_blocks),
                                                   int fused)
{
    const mg_conv2d_shape *s = &p->shape;

    MG_EACH_WINDOW(s, mg_conv2d_transpose_window_at, float, output,
                   mg_conv2d_transpose_f32_pixel(p, &window, &input[window.value], weight, bias,
                                                 pixel, fused));
}

#define MG_CONV2D_TRANSPOSE_F32_BLOCKS_PROTOTYPE(name)                                             \
    void name(MG_ARGUMENTS_F32(mg_conv2d_transpose_f32_blocks))
#define MG_CONV2D_TRANSPOSE_F32_BLOCKS_KERNEL(name, fused)                                         \
    MG_KERNEL_F32(name, mg_conv2d_transpose_f32_blocks, fused)

#endif
