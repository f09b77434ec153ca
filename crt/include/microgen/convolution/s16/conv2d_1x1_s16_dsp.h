/* SPDX-License-Identifier: Apache-2.0 */
/* 1x1 convolution, int16 with int8 weights, for the DSP extension: two pixels and two channels at a
 * time. */
#ifndef MICROGEN_CONV2D_1X1_S16_DSP_H
#define MICROGEN_CONV2D_1X1_S16_DSP_H

#include "microgen/blocks/blocks_s16.h"
#include "microgen/convolution/s16/conv2d_s16.h"
#include "microgen/out_of_line.h"

typedef mg_conv2d_s16_params mg_conv2d_1x1_s16_dsp_params;

/* Computes the same as mg_conv2d_s16_dsp, with kernels of 1x1 and strides of 1, without padding,
 * and with a multiple of four input channels. */
MG_EXTERN void mg_conv2d_1x1_s16_dsp(MG_ARGUMENTS_FACTORED(mg_conv2d_1x1_s16_dsp, int32_t));

MG_INLINE void mg_conv2d_1x1_s16_dsp_body(MG_ARGUMENTS_FACTORED(mg_conv2d_1x1_s16_dsp, int32_t))
{
    const mg_folded_s16 folded = {bias, factor, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t pixels = s->batches * s->output_height * s->output_width;

    for (int32_t i = 0; i < pixels; i += 2) {
        const int32_t is_one = i + 1 == pixels;
        const int16_t *values = &input[i * s->input_channels];
        mg_pixels_s16(&folded, values, is_one ? values : &values[s->input_channels], weight,
                      s->output_channels, s->input_channels / 4, is_one, 0,
                      &output[i * s->output_channels]);
    }
}

#ifdef MG_CONV2D_1X1_S16_DSP_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_1x1_s16_dsp, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_conv2d_1x1_s16_dsp, int32_t))
#endif

#endif
