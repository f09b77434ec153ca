/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int16 with int8 weights, for the DSP extension: four channels at a
 * time. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S16_DSP_H
#define MICROGEN_DEPTHWISE_CONV2D_S16_DSP_H

#include "microgen/depthwise/depthwise_conv2d_s16.h"
#include "microgen/depthwise/depthwise_folded_s16.h"
#include "microgen/out_of_line.h"

typedef mg_depthwise_conv2d_s16_params mg_depthwise_conv2d_s16_dsp_params;

/* Computes the same as mg_depthwise_conv2d_s16 with as many inputs as outputs, rounded by
 * MG_ROUND_REDUCED. There must be a multiple of four channels. weight has [taps][channels] with
 * each four channels in the order 0, 2, 1, 3; bias and factor are those of mg_folded_s16. No sum of
 * products and bias may exceed int32. */
MG_EXTERN void mg_depthwise_conv2d_s16_dsp(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_dsp,
                                                                 int8_t));

MG_INLINE void mg_depthwise_conv2d_s16_dsp_body(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_dsp,
                                                                      int8_t))
{
    mg_depthwise_folded_s16(p, input, weight, bias, factor, 0, output);
}

#ifdef MG_DEPTHWISE_CONV2D_S16_DSP_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_depthwise_conv2d_s16_dsp, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_dsp, int8_t))
#endif

#endif
