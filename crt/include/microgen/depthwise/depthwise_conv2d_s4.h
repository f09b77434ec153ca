/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution of int8 data with weights of 4 bits. The kernel unpacks all weights
 * into scratch memory. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S4_H
#define MICROGEN_DEPTHWISE_CONV2D_S4_H

#include "microgen/blocks/int4.h"
#include "microgen/depthwise/depthwise_conv2d_s8.h"
#include "microgen/depthwise/depthwise_conv2d_s8_blocks.h"
#include "microgen/out_of_line.h"

typedef mg_depthwise_conv2d_s8_params mg_depthwise_conv2d_s4_params;

/* Unpacks all weights. */
MG_INLINE const int8_t *mg_depthwise_conv2d_s4_unpacked(const mg_depthwise_conv2d_s4_params *p,
                                                        const uint8_t *weight, int8_t *unpacked)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;

    mg_unpack_s4(weight, p->kernel_height * p->kernel_width * channels, unpacked);
    return unpacked;
}

/* Computes the same as mg_depthwise_conv2d_s8_body with the same arguments, except that weight has
 * two weights to a byte, as microgen/blocks/int4.h describes, in one row. scratch must have
 * kernel_height
 * * kernel_width * input_channels * depth_multiplier bytes. */
MG_BODY(mg_depthwise_conv2d_s4, uint8_t, uint8_t *scratch, int requantization)
{
    const int8_t *unpacked = mg_depthwise_conv2d_s4_unpacked(p, weight, (int8_t *)scratch);
    mg_depthwise_conv2d_s8_body(p, input, unpacked, bias, multiplier, shift, output,
                                requantization);
}

#define MG_DEPTHWISE_CONV2D_S4_PROTOTYPE(name)                                                     \
    MG_PROTOTYPE_SCRATCH(name, mg_depthwise_conv2d_s4, uint8_t)
#define MG_DEPTHWISE_CONV2D_S4_KERNEL(name, ...)                                                   \
    MG_KERNEL_SCRATCH(name, mg_depthwise_conv2d_s4, uint8_t, __VA_ARGS__)

/* 2-D depthwise convolution of depth multiplier 1, of int8 data with weights of 4 bits, four output
 * channels at a time. */

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
