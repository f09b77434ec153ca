/* SPDX-License-Identifier: Apache-2.0 */
/* 1x1 convolution with stride 1 and no padding, int8, four output channels at a time,
 * requantized with one rounding, ties upwards; in plain C and with the Arm DSP extension. */
#ifndef MICROGEN_CONV2D_1X1_S8_UPWARD_H
#define MICROGEN_CONV2D_1X1_S8_UPWARD_H

#include <stdint.h>

#include "microgen/conv2d_1x1_s8_portable.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_conv2d_s8_params mg_conv2d_1x1_s8_upward_portable_params;
typedef mg_conv2d_s8_params mg_conv2d_1x1_s8_upward_dsp_params;

/* Computes the same as mg_conv2d_s8_once with ties upwards and the same arguments, except that
 * rounding_shift replaces shift. It is the right shift minus one, or 0 if the multiplier is 0, so
 * every scale must be below 1/2. The magnitude of every sum must be below 2^30. The kernel is 1x1,
 * both strides are 1, there is no padding and only one group. */
void mg_conv2d_1x1_s8_upward_portable(const mg_conv2d_1x1_s8_upward_portable_params *p,
                                      const int8_t *input, const int8_t *weight,
                                      const int32_t *bias, const int32_t *multiplier,
                                      const int8_t *rounding_shift, int8_t *output);
void mg_conv2d_1x1_s8_upward_dsp(const mg_conv2d_1x1_s8_upward_dsp_params *p, const int8_t *input,
                                 const int8_t *weight, const int32_t *bias,
                                 const int32_t *multiplier, const int8_t *rounding_shift,
                                 int8_t *output);

MG_INLINE void mg_conv2d_1x1_s8_upward_portable_body(
    const mg_conv2d_1x1_s8_upward_portable_params *p, const int8_t *input, const int8_t *weight,
    const int32_t *bias, const int32_t *multiplier, const int8_t *rounding_shift, int8_t *output)
{
    mg_conv2d_1x1_s8_blocks(p, input, weight, bias, multiplier, rounding_shift, output, 0, 1);
}

MG_INLINE void mg_conv2d_1x1_s8_upward_dsp_body(const mg_conv2d_1x1_s8_upward_dsp_params *p,
                                                const int8_t *input, const int8_t *weight,
                                                const int32_t *bias, const int32_t *multiplier,
                                                const int8_t *rounding_shift, int8_t *output)
{
    mg_conv2d_1x1_s8_blocks(p, input, weight, bias, multiplier, rounding_shift, output, 1, 1);
}

#ifdef MG_CONV2D_1X1_S8_UPWARD_IMPLEMENTATION /* the out-of-line forms */
void mg_conv2d_1x1_s8_upward_portable(const mg_conv2d_1x1_s8_upward_portable_params *p,
                                      const int8_t *input, const int8_t *weight,
                                      const int32_t *bias, const int32_t *multiplier,
                                      const int8_t *rounding_shift, int8_t *output)
{
    mg_conv2d_1x1_s8_upward_portable_body(p, input, weight, bias, multiplier, rounding_shift,
                                          output);
}

void mg_conv2d_1x1_s8_upward_dsp(const mg_conv2d_1x1_s8_upward_dsp_params *p, const int8_t *input,
                                 const int8_t *weight, const int32_t *bias,
                                 const int32_t *multiplier, const int8_t *rounding_shift,
                                 int8_t *output)
{
    mg_conv2d_1x1_s8_upward_dsp_body(p, input, weight, bias, multiplier, rounding_shift, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
