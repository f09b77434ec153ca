/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int16 with int8 weights, for MVE: four channels at a time. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S16_MVE_H
#define MICROGEN_DEPTHWISE_CONV2D_S16_MVE_H

#include "microgen/depthwise/depthwise_conv2d_s16.h"
#include "microgen/depthwise/depthwise_folded_s16.h"
#include "microgen/out_of_line.h"

typedef mg_depthwise_conv2d_s16_params mg_depthwise_conv2d_s16_mve_params;

/* Computes the same as mg_depthwise_conv2d_s16 with as many inputs as outputs, four or more,
 * rounded by MG_ROUND_REDUCED. bias and factor are those of mg_folded_s16. No sum of products and
 * bias may exceed int32. */
MG_EXTERN void mg_depthwise_conv2d_s16_mve(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_mve,
                                                                 int8_t));

#if defined(__ARM_FEATURE_MVE)

MG_INLINE void mg_depthwise_conv2d_s16_mve_body(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_mve,
                                                                      int8_t))
{
    mg_depthwise_folded_s16(p, input, weight, bias, factor, 1, output);
}

#ifdef MG_DEPTHWISE_CONV2D_S16_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_depthwise_conv2d_s16_mve, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_mve, int8_t))
#endif

#endif

#endif
