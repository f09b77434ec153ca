/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution of depth multiplier 1, of int8 data with weights of 4 bits, four output
 * channels at a time, in plain C and with the Arm DSP extension. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S4_BLOCKS_H
#define MICROGEN_DEPTHWISE_CONV2D_S4_BLOCKS_H

#include <stdint.h>

#include "microgen/depthwise_conv2d_s4.h"
#include "microgen/depthwise_conv2d_s8_dsp.h"
#include "microgen/depthwise_conv2d_s8_portable.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_depthwise_conv2d_s4_params mg_depthwise_conv2d_s4_dsp_params;
typedef mg_depthwise_conv2d_s4_params mg_depthwise_conv2d_s4_portable_params;

/* Compute the same as mg_depthwise_conv2d_s4 with the same arguments, except that rounding_shift
 * replaces shift. It is the right shift minus one, or 0 if the multiplier is 0, so every scale must
 * be below 1/2. The magnitude of every sum must be below 2^30. depth_multiplier must be 1. */
void mg_depthwise_conv2d_s4_dsp(const mg_depthwise_conv2d_s4_dsp_params *p, const int8_t *input,
                                const uint8_t *weight, const int32_t *bias,
                                const int32_t *multiplier, const int8_t *rounding_shift,
                                int8_t *output, uint8_t *scratch);
void mg_depthwise_conv2d_s4_portable(const mg_depthwise_conv2d_s4_portable_params *p,
                                     const int8_t *input, const uint8_t *weight,
                                     const int32_t *bias, const int32_t *multiplier,
                                     const int8_t *rounding_shift, int8_t *output,
                                     uint8_t *scratch);

MG_INLINE void mg_depthwise_conv2d_s4_dsp_body(const mg_depthwise_conv2d_s4_dsp_params *p,
                                               const int8_t *input, const uint8_t *weight,
                                               const int32_t *bias, const int32_t *multiplier,
                                               const int8_t *rounding_shift, int8_t *output,
                                               uint8_t *scratch)
{
    const int8_t *unpacked = mg_depthwise_conv2d_s4_unpacked(p, weight, (int8_t *)scratch);
    mg_depthwise_conv2d_s8_dsp_body(p, input, unpacked, bias, multiplier, rounding_shift, output);
}

MG_INLINE void mg_depthwise_conv2d_s4_portable_body(const mg_depthwise_conv2d_s4_portable_params *p,
                                                    const int8_t *input, const uint8_t *weight,
                                                    const int32_t *bias, const int32_t *multiplier,
                                                    const int8_t *rounding_shift, int8_t *output,
                                                    uint8_t *scratch)
{
    const int8_t *unpacked = mg_depthwise_conv2d_s4_unpacked(p, weight, (int8_t *)scratch);
    mg_depthwise_conv2d_s8_portable_body(p, input, unpacked, bias, multiplier, rounding_shift,
                                         output);
}

#ifdef MG_DEPTHWISE_CONV2D_S4_BLOCKS_IMPLEMENTATION /* the out-of-line forms */
void mg_depthwise_conv2d_s4_dsp(const mg_depthwise_conv2d_s4_dsp_params *p, const int8_t *input,
                                const uint8_t *weight, const int32_t *bias,
                                const int32_t *multiplier, const int8_t *rounding_shift,
                                int8_t *output, uint8_t *scratch)
{
    mg_depthwise_conv2d_s4_dsp_body(p, input, weight, bias, multiplier, rounding_shift, output,
                                    scratch);
}

void mg_depthwise_conv2d_s4_portable(const mg_depthwise_conv2d_s4_portable_params *p,
                                     const int8_t *input, const uint8_t *weight,
                                     const int32_t *bias, const int32_t *multiplier,
                                     const int8_t *rounding_shift, int8_t *output, uint8_t *scratch)
{
    mg_depthwise_conv2d_s4_portable_body(p, input, weight, bias, multiplier, rounding_shift, output,
                                         scratch);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
