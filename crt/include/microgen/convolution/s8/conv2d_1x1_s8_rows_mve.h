/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution with a 1x1 kernel, int8, for MVE: rows of pixels, where they are. */
#ifndef MICROGEN_CONV2D_1X1_S8_ROWS_MVE_H
#define MICROGEN_CONV2D_1X1_S8_ROWS_MVE_H

#include "microgen/blocks/mve_tiles.h"
#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_conv2d_s8_params mg_conv2d_1x1_s8_rows_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* Computes the same as mg_conv2d_s8_body with the same arguments, for a 1x1 kernel, one group, no
 * padding, and at least four output channels. Weights are in the order of mve_tiles.h. The bias
 * contains the input's zero point. `requantization` is MG_ROUND_TWICE_NARROW or
 * MG_ROUND_FLOAT_FPU. */
MG_INLINE void mg_conv2d_1x1_s8_rows_mve_body(const mg_conv2d_s8_params *p, const int8_t *input,
                                              const int8_t *weight, const int32_t *bias,
                                              const int32_t *multiplier, const int8_t *shift,
                                              void *output, int requantization)
{
    const mg_mve_rows rows = MG_MVE_ROWS_OF(p, weight, bias, multiplier, shift);
    const int32_t step = p->input_channels * p->stride_width;
    const mg_mve_places pixels = {p->input_channels, step, p->output_width,
                                  p->stride_height * p->input_width * p->input_channels -
                                      p->output_width * step};
    const int32_t count = p->output_height * p->output_width;
    int8_t *stored = (int8_t *)output;

    for (int32_t n = 0; n < p->batches; n++) {
        mg_mve_compute_pixels_with(&rows, &pixels, input, count, stored,
                                   mg_mve_lead(p->input_channels) != 0, requantization);
        input += p->input_height * p->input_width * p->input_channels;
        stored += count * p->output_channels;
    }
}

#define MG_CONV2D_1X1_S8_ROWS_MVE_KERNEL(name, ...)                                                \
    MG_KERNEL(name, mg_conv2d_1x1_s8_rows_mve, int8_t, __VA_ARGS__)

#else

#define MG_CONV2D_1X1_S8_ROWS_MVE_KERNEL(name, ...) MG_CONV2D_1X1_S8_ROWS_MVE_PROTOTYPE(name);

#endif

#define MG_CONV2D_1X1_S8_ROWS_MVE_PROTOTYPE(name)                                                  \
    MG_PROTOTYPE(name, mg_conv2d_1x1_s8_rows_mve, int8_t)

#endif
