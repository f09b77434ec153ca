/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, int16 with int8 weights, for MVE: three pixels and two channels at a time, from
 * windows that are copied first. */
#ifndef MICROGEN_CONV2D_S16_MVE_H
#define MICROGEN_CONV2D_S16_MVE_H

#include "microgen/blocks/blocks_s16_mve.h"
#include "microgen/convolution/s16/conv2d_s16.h"
#include "microgen/convolution/s16/copied_window_s16.h"
#include "microgen/out_of_line.h"

/* Computes the same as mg_conv2d_s16 in one group, rounded by MG_ROUND_REDUCED. bias and factor are
 * those of mg_folded_s16. No sum of products and bias may exceed int32. scratch must have 6 bytes
 * for each weight of a filter. It must be aligned to 2 bytes. */
MG_DECLARE_CONV2D_S16_SCRATCH(mg_conv2d_s16_mve, int8_t);

#if defined(__ARM_FEATURE_MVE)

MG_BODY_FACTORED(mg_conv2d_s16_mve, int8_t, uint8_t *scratch)
{
    const mg_folded_s16 folded = {bias, factor, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;
    const int32_t pixels = s->batches * s->output_height * s->output_width;
    int16_t *windows = (int16_t *)(void *)scratch;
    mg_place place = {0, 0, 0};

    for (int32_t i = 0; i < pixels; i += MG_MVE_PIXELS_S16) {
        const int32_t left = pixels - i;
        const int32_t count = (left < MG_MVE_PIXELS_S16) ? left : MG_MVE_PIXELS_S16;
        for (int32_t k = 0; k < count; k++) {
            mg_copy_window_s16(s, &place, input, &windows[k * size]);
        }
        mg_mve_pixels_s16(&folded, windows, count, weight, s->output_channels, size,
                          &output[i * s->output_channels]);
    }
}

#ifdef MG_CONV2D_S16_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_s16_mve, (p, input, weight, bias, factor, output, scratch),
               MG_ARGUMENTS_FACTORED(mg_conv2d_s16_mve, int8_t), uint8_t *scratch)
#endif

#endif

/* 1x1 convolution, int16 with int8 weights, for MVE: three pixels and two channels at a time.
 *
 * Computes the same as mg_conv2d_s16_mve, with kernels of 1x1 and strides of 1, without padding. */
MG_DECLARE_CONV2D_S16(mg_conv2d_1x1_s16_mve, int8_t);

#if defined(__ARM_FEATURE_MVE)

MG_INLINE void mg_conv2d_1x1_s16_mve_body(MG_ARGUMENTS_FACTORED(mg_conv2d_1x1_s16_mve, int8_t))
{
    const mg_folded_s16 folded = {bias, factor, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t pixels = s->batches * s->output_height * s->output_width;

    for (int32_t i = 0; i < pixels; i += MG_MVE_PIXELS_S16) {
        mg_mve_pixels_s16(&folded, &input[i * s->input_channels], pixels - i, weight,
                          s->output_channels, s->input_channels, &output[i * s->output_channels]);
    }
}

#ifdef MG_CONV2D_S16_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_1x1_s16_mve, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_conv2d_1x1_s16_mve, int8_t))
#endif

#endif

#endif
