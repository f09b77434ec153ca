/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of int8 data with weights of 4 bits, grouped and dilated. The kernel unpacks one
 * filter after the other into scratch memory. */
#ifndef MICROGEN_CONV2D_S4_H
#define MICROGEN_CONV2D_S4_H

#include <stddef.h>

#include "microgen/blocks/blocks_s8.h"
#include "microgen/blocks/int4.h"
#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/convolution/s8/conv2d_s8_blocks.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

typedef mg_conv2d_s8_params mg_conv2d_s4_params;

/* Computes output channel c, whose filter is unpacked. */
MG_INLINE void mg_conv2d_s4_channel(const mg_conv2d_s4_params *p, const int8_t *input,
                                    const int8_t *filter, int32_t c, int32_t bias,
                                    const mg_scaling *scaling, void *output, int requantization)
{
    const int32_t group_outputs = p->output_channels / (p->input_channels / p->filter_channels);
    const int32_t first = c / group_outputs * p->filter_channels;
    const int32_t none = 0; /* weights have no offset */

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            for (int32_t x = 0; x < p->output_width; x++) {
                const int32_t sum = mg_conv2d_s8_dot(p, input, filter, &none, n, 0, first,
                                                     y * p->stride_height - p->pad_top,
                                                     x * p->stride_width - p->pad_left);
                mg_store(scaling, output,
                         mg_nhwc(n, y, x, p->output_height, p->output_width, p->output_channels) +
                             c,
                         c, sum + bias, requantization);
            }
        }
    }
}

/* Computes the same as mg_conv2d_s8_body with the same arguments, except that weight has two
 * weights to a byte, as microgen/blocks/int4.h describes. A row of it is a filter. scratch must
 * have kernel_height * kernel_width * filter_channels bytes. */
MG_BODY(mg_conv2d_s4, uint8_t, uint8_t *scratch, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const int32_t size = p->kernel_height * p->kernel_width * p->filter_channels;
    int8_t *filter = (int8_t *)scratch;

    for (int32_t c = 0; c < p->output_channels; c++) {
        mg_unpack_s4(&weight[c * mg_row_bytes_s4(size)], size, filter);
        mg_conv2d_s4_channel(p, input, filter, c, (bias != NULL) ? bias[c] : 0, &scaling, output,
                             requantization);
    }
}

#define MG_CONV2D_S4_PROTOTYPE(name) MG_PROTOTYPE_SCRATCH(name, mg_conv2d_s4, uint8_t)
#define MG_CONV2D_S4_KERNEL(name, ...) MG_KERNEL_SCRATCH(name, mg_conv2d_s4, uint8_t, __VA_ARGS__)

/* 2-D convolution of one group with undilated columns, of int8 data with weights of 4 bits, four
 * output channels at a time. The kernels unpack the filters of four channels into scratch memory
 * and compute these channels of all pixels. */

typedef mg_conv2d_s4_params mg_conv2d_s4_blocks_params;

/* Computes the `count` channels from c on, 1 to 4, of the pixel whose outputs begin at element
 * `out`. A filter has `size` weights. */
MG_INLINE void mg_conv2d_s4_pixel(const mg_conv2d_s8_window *window, const mg_scaling *scaling,
                                  const int32_t *bias, int32_t c, int32_t count, int32_t size,
                                  int32_t offset, int8_t *out, int loop, int requantization)
{
    if (count == 4) {
        const mg_sums sums = mg_conv2d_s8_dot_4(window, mg_bias_4(bias, c), 0, size, offset, loop);
        mg_store_4(scaling, c, sums, out, requantization);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t sum = mg_conv2d_s8_dot_1(window, mg_bias(bias, c + i), i, size, offset);
        out[c + i] = mg_scaled(scaling, c + i, sum, requantization);
    }
}

/* Computes the same as mg_conv2d_s4_body with the same arguments. There must be one group, and
 * dilation_width must be 1. scratch must have kernel_height * kernel_width * input_channels bytes
 * for each output channel, but not for more than four. `loop` is a constant of
 * microgen/blocks/blocks_s8.h. */
MG_BODY(mg_conv2d_s4_blocks, uint8_t, uint8_t *scratch, int loop, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const int32_t channels = p->output_channels;
    const int32_t size = p->kernel_height * p->kernel_width * p->input_channels;
    int8_t *filters = (int8_t *)scratch;

    for (int32_t c = 0; c < channels; c += 4) {
        const int32_t count = (channels - c < 4) ? channels - c : 4;
        for (int32_t i = 0; i < count; i++) {
            mg_unpack_s4(&weight[(c + i) * mg_row_bytes_s4(size)], size, &filters[i * size]);
        }
        for (int32_t n = 0; n < p->batches; n++) {
            for (int32_t y = 0; y < p->output_height; y++) {
                for (int32_t x = 0; x < p->output_width; x++) {
                    const mg_conv2d_s8_window window =
                        mg_conv2d_s8_window_at(p, input, filters, n, y, x);
                    int8_t *out = (int8_t *)output +
                                  mg_nhwc(n, y, x, p->output_height, p->output_width, channels);
                    mg_conv2d_s4_pixel(&window, &scaling, bias, c, count, size, p->input_offset,
                                       out, loop, requantization);
                }
            }
        }
    }
}

#define MG_CONV2D_S4_BLOCKS_PROTOTYPE(name) MG_PROTOTYPE_SCRATCH(name, mg_conv2d_s4_blocks, uint8_t)
#define MG_CONV2D_S4_BLOCKS_KERNEL(name, ...)                                                      \
    MG_KERNEL_SCRATCH(name, mg_conv2d_s4_blocks, uint8_t, __VA_ARGS__)

#endif
