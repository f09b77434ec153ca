/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of depthwise convolutions of depth multiplier 1, in half the flash. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_COMPACT_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_COMPACT_H

#include <stdint.h>

/* Those of mg_depthwise_conv2d_s8_params of the same names. All are below 2^15; what cannot be
 * negative is unsigned, because Thumb loads that with fewer bytes. */
typedef struct {
    uint16_t batches;
    uint16_t input_height;
    uint16_t input_width;
    uint16_t input_channels;
    uint16_t output_height;
    uint16_t output_width;
    uint16_t kernel_height;
    uint16_t kernel_width;
    uint16_t stride_height;
    uint16_t stride_width;
    uint16_t pad_top;
    uint16_t pad_left;
    int16_t input_offset;
    int16_t output_offset;
    int16_t activation_min;
    int16_t activation_max;
} mg_depthwise_conv2d_s8_compact;

#endif
