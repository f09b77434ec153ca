/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution of int8 data with weights of 4 bits, for MVE. The kernel unpacks all
 * weights into scratch memory. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S4_MVE_H
#define MICROGEN_DEPTHWISE_CONV2D_S4_MVE_H

#include "microgen/depthwise/depthwise_conv2d_s4.h"
#include "microgen/depthwise/depthwise_conv2d_s8_mve.h"
#include "microgen/out_of_line.h"

typedef mg_depthwise_conv2d_s4_params mg_depthwise_conv2d_s4_mve_params;

/* Computes the same as mg_depthwise_conv2d_s4_body with MG_ROUND_TWICE and the same arguments.
 * scratch must have the bytes that mg_depthwise_conv2d_s8_mve needs, and after them one byte for
 * each weight. It must be aligned to 4 bytes. */
MG_EXTERN void mg_depthwise_conv2d_s4_mve(MG_ARGUMENTS_S8(mg_depthwise_conv2d_s4_mve, uint8_t),
                                          uint8_t *scratch);

#if defined(__ARM_FEATURE_MVE)

/* Computes all channels of one output pixel, for which the tables are filled. */
MG_INLINE void mg_depthwise_conv2d_s4_mve_pixel(mg_depthwise_conv2d_s8_mve_block *block,
                                                int32_t channels, int8_t *output)
{
    block->is_full = 1;
    block->count = MG_MVE_BYTES;
    for (block->channel = 0; block->channel + MG_MVE_BYTES <= channels;
         block->channel += MG_MVE_BYTES) {
        mg_depthwise_conv2d_s8_mve_pixel(block, output);
    }
    if (block->channel < channels) {
        block->is_full = 0;
        block->count = channels - block->channel;
        mg_depthwise_conv2d_s8_mve_pixel(block, output);
    }
}

/* Out of line for the same reasons as mg_depthwise_conv2d_s8_mve_any. */
static __attribute__((noinline, unused)) void
mg_depthwise_conv2d_s4_mve_any(const mg_depthwise_conv2d_s4_mve_params *p, const int8_t *input,
                               const uint8_t *weight, const int32_t *bias,
                               const int32_t *multiplier, const int8_t *shift, int8_t *output,
                               uint8_t *scratch)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;
    const mg_depthwise_conv2d_s8_mve_tables t = mg_depthwise_conv2d_s8_mve_lay_out(p, scratch);
    int8_t *end = (int8_t *)(t.place + ((p->depth_multiplier > 1) ? channels : 0));
    const int8_t *unpacked = mg_depthwise_conv2d_s4_unpacked(p, weight, end);
    mg_depthwise_conv2d_s8_mve_block block = {p, &t, unpacked, multiplier, shift, 0, 1, 0};

    mg_depthwise_conv2d_s8_mve_prepare(p, unpacked, bias, &t);
    for (int32_t n = 0; n < p->batches; n++) {
        const int8_t *image =
            &input[mg_nhwc(n, 0, 0, p->input_height, p->input_width, p->input_channels)];
        for (int32_t y = 0; y < p->output_height; y++) {
            for (int32_t x = 0; x < p->output_width; x++) {
                mg_depthwise_conv2d_s8_mve_find(p, image, y * p->stride_height - p->pad_top,
                                                x * p->stride_width - p->pad_left, &t);
                mg_depthwise_conv2d_s4_mve_pixel(&block, channels, output);
                output += channels;
            }
        }
    }
}

MG_INLINE void mg_depthwise_conv2d_s4_mve_body(MG_ARGUMENTS_S8(mg_depthwise_conv2d_s4_mve, uint8_t),
                                               uint8_t *scratch)
{
    mg_depthwise_conv2d_s4_mve_any(p, input, weight, bias, multiplier, shift, output, scratch);
}

#ifdef MG_DEPTHWISE_CONV2D_S4_MVE_IMPLEMENTATION /* the out-of-line form */
void mg_depthwise_conv2d_s4_mve(MG_ARGUMENTS_S8(mg_depthwise_conv2d_s4_mve, uint8_t),
                                uint8_t *scratch)
{
    mg_depthwise_conv2d_s4_mve_body(p, input, weight, bias, multiplier, shift, output, scratch);
}
#endif

#endif

#endif
