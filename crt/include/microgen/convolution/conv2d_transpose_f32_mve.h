/* SPDX-License-Identifier: Apache-2.0 */
/* Transposed 2-D convolution, float32, for MVE with floats: four channels at a time. */
#ifndef MICROGEN_CONV2D_TRANSPOSE_F32_MVE_H
#define MICROGEN_CONV2D_TRANSPOSE_F32_MVE_H

#include "microgen/convolution/conv2d_f32_mve.h"
#include "microgen/convolution/conv2d_transpose_f32.h"
#include "microgen/out_of_line.h"

typedef mg_conv2d_transpose_f32_params mg_conv2d_transpose_f32_mve_params;

/* Computes the same as mg_conv2d_transpose_f32_body, except that sums begin with the bias and
 * products are fused with additions. weight is in the order of microgen/blocks/blocks_f32_mve.h. */
MG_EXTERN void mg_conv2d_transpose_f32_mve(MG_ARGUMENTS_F32(mg_conv2d_transpose_f32_mve));

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)

/* Computes all channels of a pixel. */
MG_INLINE void mg_conv2d_transpose_f32_mve_pixel(const mg_conv2d_transpose_f32_mve_params *p,
                                                 const mg_window *window, const float *values,
                                                 const float *weight, const float *bias,
                                                 float *pixel)
{
    const mg_conv2d_shape *s = &p->shape;
    const int32_t size = s->kernel_height * s->kernel_width * s->input_channels;

    for (int32_t c = 0; c < s->output_channels; c += MG_MVE_FLOATS) {
        const mve_pred16_t active = vctp32q((uint32_t)(s->output_channels - c));
        mg_conv2d_f32_mve_pixel(p, window, values,
                                &weight[c * size + window->weight * MG_MVE_FLOATS],
                                mg_mve_bias_f32(bias, c, active), active, &pixel[c]);
    }
}

MG_INLINE void mg_conv2d_transpose_f32_mve_body(MG_ARGUMENTS_F32(mg_conv2d_transpose_f32_mve))
{
    const mg_conv2d_shape *s = &p->shape;

    MG_EACH_WINDOW(
        s, mg_conv2d_transpose_window_at, float, output,
        mg_conv2d_transpose_f32_mve_pixel(p, &window, &input[window.value], weight, bias, pixel));
}

#ifdef MG_CONV2D_TRANSPOSE_F32_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_transpose_f32_mve, (p, input, weight, bias, output),
               MG_ARGUMENTS_F32(mg_conv2d_transpose_f32_mve))
#endif

#endif

#endif
