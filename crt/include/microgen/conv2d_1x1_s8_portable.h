/* SPDX-License-Identifier: Apache-2.0 */
/* 1x1 convolution with stride 1 and no padding, int8, four output channels at a time, in plain C.
 */
#ifndef MICROGEN_CONV2D_1X1_S8_PORTABLE_H
#define MICROGEN_CONV2D_1X1_S8_PORTABLE_H

#include <stdint.h>

#include "microgen/blocks_s8.h"
#include "microgen/conv2d_s8.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_conv2d_s8_params mg_conv2d_1x1_s8_portable_params;

/* Computes the same as mg_conv2d_s8 with the same arguments, except that rounding_shift replaces
 * shift. It is the right shift minus one, or 0 if the multiplier is 0, so every scale must be below
 * 1/2. The magnitude of every sum must be below 2^30. The kernel is 1x1, both strides are 1, there
 * is no padding and only one group. */
void mg_conv2d_1x1_s8_portable(const mg_conv2d_1x1_s8_portable_params *p, const int8_t *input,
                               const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                               const int8_t *rounding_shift, int8_t *output);

MG_INLINE void mg_conv2d_1x1_s8_blocks(const mg_conv2d_s8_params *p, const int8_t *input,
                                       const int8_t *weight, const int32_t *bias,
                                       const int32_t *multiplier, const int8_t *rounding_shift,
                                       int8_t *output, int dsp, int upward)
{
    const mg_scaling scaling = {multiplier, rounding_shift, p->output_offset, p->activation_min,
                                p->activation_max};
    const int32_t depth = p->input_channels;
    const int32_t channels = p->output_channels;
    const int32_t whole = channels - channels % 4;
    const int32_t pixels = p->batches * p->input_height * p->input_width;

    for (int32_t i = 0; i < pixels; i++) {
        const int8_t *pixel = &input[i * depth];
        int8_t *out = &output[i * channels];
        for (int32_t c = 0; c < whole; c += 4) {
            const mg_sums sums = mg_dot_4(mg_bias_4(bias, c), pixel, &weight[c * depth], depth,
                                          depth, p->input_offset, dsp);
            mg_store_4_as(&scaling, c, sums, out, upward);
        }
        for (int32_t c = whole; c < channels; c++) {
            const int32_t sum =
                mg_dot(mg_bias(bias, c), pixel, &weight[c * depth], depth, p->input_offset);
            out[c] = mg_scaled_as(&scaling, c, sum, upward);
        }
    }
}

MG_INLINE void mg_conv2d_1x1_s8_portable_body(const mg_conv2d_1x1_s8_portable_params *p,
                                              const int8_t *input, const int8_t *weight,
                                              const int32_t *bias, const int32_t *multiplier,
                                              const int8_t *rounding_shift, int8_t *output)
{
    mg_conv2d_1x1_s8_blocks(p, input, weight, bias, multiplier, rounding_shift, output, 0, 0);
}

#ifdef MG_CONV2D_1X1_S8_PORTABLE_IMPLEMENTATION /* the out-of-line form */
void mg_conv2d_1x1_s8_portable(const mg_conv2d_1x1_s8_portable_params *p, const int8_t *input,
                               const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                               const int8_t *rounding_shift, int8_t *output)
{
    mg_conv2d_1x1_s8_portable_body(p, input, weight, bias, multiplier, rounding_shift, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
