/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution with a 1x1 kernel, int8 with int32 accumulators, for MVE. */
#ifndef MICROGEN_CONV2D_1X1_S8_MVE_H
#define MICROGEN_CONV2D_1X1_S8_MVE_H

#include <stddef.h>

#include "microgen/blocks/mve.h"
#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/out_of_line.h"

typedef mg_conv2d_s8_params mg_conv2d_1x1_s8_mve_params;

/* Computes the same as mg_conv2d_s8_body with MG_ROUND_TWICE and the same arguments, for a 1x1
 * kernel, one group and no padding. */
MG_EXTERN void mg_conv2d_1x1_s8_mve(MG_ARGUMENTS_S8(mg_conv2d_1x1_s8_mve, int8_t));

#if defined(__ARM_FEATURE_MVE)

/* The input of an output pixel. Pixels are numbered consecutively over all batches. */
MG_INLINE const int8_t *mg_conv2d_1x1_s8_mve_row(const mg_conv2d_1x1_s8_mve_params *p,
                                                 const int8_t *input, int32_t pixel)
{
    if (p->stride_height == 1 && p->stride_width == 1) {
        return &input[pixel * p->input_channels];
    }
    const int32_t line = pixel / p->output_width;
    const int32_t x = pixel % p->output_width * p->stride_width;
    const int32_t y = line % p->output_height * p->stride_height;
    return &input[mg_nhwc(line / p->output_height, y, x, p->input_height, p->input_width,
                          p->input_channels)];
}

MG_INLINE void mg_conv2d_1x1_s8_mve_body(MG_ARGUMENTS_S8(mg_conv2d_1x1_s8_mve, int8_t))
{
    const mg_mve_layer layer = MG_MVE_LAYER_OF(p, p->input_channels);
    const int32_t pixels = p->batches * p->output_height * p->output_width;

    for (int32_t first = 0; first < pixels; first += MG_MVE_ROWS) {
        const int32_t count = (pixels - first < MG_MVE_ROWS) ? pixels - first : MG_MVE_ROWS;
        const int8_t *row[MG_MVE_ROWS];
        for (int32_t i = 0; i < MG_MVE_ROWS; i++) {
            row[i] = mg_conv2d_1x1_s8_mve_row(p, input, first + ((i < count) ? i : 0));
        }
        mg_mve_pixels(&layer, row, count, weight, bias, multiplier, shift,
                      &output[first * p->output_channels]);
    }
}

#ifdef MG_CONV2D_1X1_S8_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_1x1_s8_mve, (p, input, weight, bias, multiplier, shift, output),
               MG_ARGUMENTS_S8(mg_conv2d_1x1_s8_mve, int8_t))
#endif

#endif

#endif
