/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution of depth multiplier 1, of int8 data with weights of 4 bits, four output
 * channels at a time. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S4_BLOCKS_H
#define MICROGEN_DEPTHWISE_CONV2D_S4_BLOCKS_H

#include "microgen/depthwise/depthwise_conv2d_s4.h"
#include "microgen/depthwise/depthwise_conv2d_s8_blocks.h"
#include "microgen/out_of_line.h"

typedef mg_depthwise_conv2d_s4_params mg_depthwise_conv2d_s4_blocks_params;

/* Computes the same as mg_depthwise_conv2d_s4_body with the same arguments. depth_multiplier must
 * be
 * 1. `loop` is a constant of microgen/blocks/blocks_s8.h. */
MG_BODY(mg_depthwise_conv2d_s4_blocks, uint8_t, uint8_t *scratch, int loop, int requantization)
{
    const int8_t *unpacked = mg_depthwise_conv2d_s4_unpacked(p, weight, (int8_t *)scratch);
    mg_depthwise_conv2d_s8_blocks_body(p, input, unpacked, bias, multiplier, shift, output, loop,
                                       requantization);
}

#define MG_DEPTHWISE_CONV2D_S4_BLOCKS_PROTOTYPE(name)                                              \
    MG_PROTOTYPE_SCRATCH(name, mg_depthwise_conv2d_s4_blocks, uint8_t)
#define MG_DEPTHWISE_CONV2D_S4_BLOCKS_KERNEL(name, ...)                                            \
    MG_KERNEL_SCRATCH(name, mg_depthwise_conv2d_s4_blocks, uint8_t, __VA_ARGS__)

#endif
