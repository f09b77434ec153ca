/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, int8, grouped and dilated, with int32 outputs: the accumulators. */
#ifndef MICROGEN_CONV2D_S8_S32_H
#define MICROGEN_CONV2D_S8_S32_H

#include <stddef.h>
#include <stdint.h>

#include "microgen/conv2d_s8.h"
#include "microgen/inline.h"
#include "microgen/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_conv2d_s8_params mg_conv2d_s8_s32_params;

/* Stores the sums of bias and products that mg_conv2d_s8 requantizes. The arguments are the same
 * without those for requantization, and output has the same shape. Output must not overlap the
 * input. */
void mg_conv2d_s8_s32(const mg_conv2d_s8_s32_params *p, const int8_t *input, const int8_t *weight,
                      const int32_t *bias, int32_t *output);

/* The sum of bias and products of output element [n][y][x][c]. */
MG_INLINE int32_t mg_conv2d_s8_total(const mg_conv2d_s8_params *p, const int8_t *input,
                                     const int8_t *weight, const int32_t *bias, int32_t n,
                                     int32_t y, int32_t x, int32_t c)
{
    const int32_t group_outputs = p->output_channels / (p->input_channels / p->filter_channels);
    const int32_t sum =
        mg_conv2d_s8_dot(p, input, weight, n, c, c / group_outputs * p->filter_channels,
                         y * p->stride_height - p->pad_top, x * p->stride_width - p->pad_left);
    return sum + ((bias != NULL) ? bias[c] : 0);
}

MG_INLINE void mg_conv2d_s8_s32_body(const mg_conv2d_s8_s32_params *p, const int8_t *input,
                                     const int8_t *weight, const int32_t *bias, int32_t *output)
{
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            for (int32_t x = 0; x < p->output_width; x++) {
                int32_t *pixel = &output[mg_nhwc(n, y, x, p->output_height, p->output_width,
                                                 p->output_channels)];
                for (int32_t c = 0; c < p->output_channels; c++) {
                    pixel[c] = mg_conv2d_s8_total(p, input, weight, bias, n, y, x, c);
                }
            }
        }
    }
}

#ifdef MG_CONV2D_S8_S32_IMPLEMENTATION /* the out-of-line form */
void mg_conv2d_s8_s32(const mg_conv2d_s8_s32_params *p, const int8_t *input, const int8_t *weight,
                      const int32_t *bias, int32_t *output)
{
    mg_conv2d_s8_s32_body(p, input, weight, bias, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
