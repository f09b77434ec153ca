/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, int16 with int8 weights, for the DSP extension: two pixels and two channels at a
 * time, from windows that are copied first. */
#ifndef MICROGEN_CONV2D_S16_DSP_H
#define MICROGEN_CONV2D_S16_DSP_H

#include <string.h>

#include "microgen/blocks/blocks_s16.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/convolution/s16/conv2d_s16.h"
#include "microgen/convolution/s16/copied_window_s16.h"
#include "microgen/out_of_line.h"

/* Computes the same as mg_conv2d_s16 in one group, rounded by MG_ROUND_REDUCED. weight is in the
 * order of microgen/blocks/blocks_s16.h; bias and factor are those of mg_folded_s16. No sum of
 * products and bias may exceed int32. scratch must have 4 bytes for each weight of a filter,
 * rounded up to a multiple of four weights. It must be aligned to 4 bytes. */
MG_DECLARE_CONV2D_S16_SCRATCH(mg_conv2d_s16_dsp, int32_t);

MG_BODY_FACTORED(mg_conv2d_s16_dsp, int32_t, uint8_t *scratch)
{
    const mg_folded_s16 folded = {bias, factor, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t fours = mg_words_of_filter(s);
    const int32_t pixels = s->batches * s->output_height * s->output_width;
    int16_t *windows = (int16_t *)(void *)scratch;
    int16_t *other = &windows[4 * fours];
    mg_place place = {0, 0, 0};

    mg_end_windows_s16(s, windows, 2, 4 * fours);
    for (int32_t i = 0; i < pixels; i += 2) {
        const int32_t is_one = i + 1 == pixels;
        mg_copy_window_s16(s, &place, input, windows);
        if (!is_one) {
            mg_copy_window_s16(s, &place, input, other);
        }
        mg_pixels_s16(&folded, windows, other, weight, s->output_channels, fours, is_one, 1,
                      &output[i * s->output_channels]);
    }
}

/* 1x1 convolution, int16 with int8 weights, for the DSP extension: two pixels and two channels at a
 * time.
 *
 * Computes the same as mg_conv2d_s16_dsp, with kernels of 1x1 and strides of 1, without padding,
 * and with a multiple of four input channels. */
MG_DECLARE_CONV2D_S16(mg_conv2d_1x1_s16_dsp, int32_t);

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

#ifdef MG_CONV2D_S16_DSP_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_conv2d_s16_dsp, (p, input, weight, bias, factor, output, scratch),
               MG_ARGUMENTS_FACTORED(mg_conv2d_s16_dsp, int32_t), uint8_t *scratch)
MG_OUT_OF_LINE(mg_conv2d_1x1_s16_dsp, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_conv2d_1x1_s16_dsp, int32_t))
#endif

#endif
