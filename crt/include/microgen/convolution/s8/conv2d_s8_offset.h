/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, int8 with int32 accumulators, grouped and dilated, of weights with a zero point.
 */
#ifndef MICROGEN_CONV2D_S8_OFFSET_H
#define MICROGEN_CONV2D_S8_OFFSET_H

#include <stddef.h>

#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

typedef struct {
    mg_conv2d_s8_params conv;
    int32_t weight_offset; /* minus the weight's zero point: -127 to 128 */
} mg_conv2d_s8_offset_params;

/* Computes the same as mg_conv2d_s8_body with the same arguments, but with weight + weight_offset
 * instead of weight. */
MG_BODY(mg_conv2d_s8_offset, int8_t, int requantization)
{
    mg_conv2d_s8_with(&p->conv, input, weight, &p->weight_offset, bias, multiplier, shift, output,
                      requantization);
}

#define MG_CONV2D_S8_OFFSET_PROTOTYPE(name) MG_PROTOTYPE(name, mg_conv2d_s8_offset, int8_t)
#define MG_CONV2D_S8_OFFSET_KERNEL(name, ...)                                                      \
    MG_KERNEL(name, mg_conv2d_s8_offset, int8_t, __VA_ARGS__)

#endif
