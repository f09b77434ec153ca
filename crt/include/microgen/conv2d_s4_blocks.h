/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of one group with undilated columns, of int8 data with weights of 4 bits, four
 * output channels at a time, in plain C and with the Arm DSP extension. The kernels unpack the
 * filters of four channels into scratch memory and compute these channels of all pixels. */
#ifndef MICROGEN_CONV2D_S4_BLOCKS_H
#define MICROGEN_CONV2D_S4_BLOCKS_H

#include <stdint.h>

#include "microgen/blocks_s8.h"
#include "microgen/conv2d_s4.h"
#include "microgen/conv2d_s8_portable.h"
#include "microgen/inline.h"
#include "microgen/int4.h"
#include "microgen/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_conv2d_s4_params mg_conv2d_s4_dsp_params;
typedef mg_conv2d_s4_params mg_conv2d_s4_portable_params;

/* Compute the same as mg_conv2d_s4 with the same arguments, except that rounding_shift replaces
 * shift. It is the right shift minus one, or 0 if the multiplier is 0, so every scale must be below
 * 1/2. The magnitude of every sum must be below 2^30. There must be one group, and dilation_width
 * must be 1. scratch must have kernel_height * kernel_width * input_channels bytes for each output
 * channel, but not for more than four. */
void mg_conv2d_s4_dsp(const mg_conv2d_s4_dsp_params *p, const int8_t *input, const uint8_t *weight,
                      const int32_t *bias, const int32_t *multiplier, const int8_t *rounding_shift,
                      int8_t *output, uint8_t *scratch);
void mg_conv2d_s4_portable(const mg_conv2d_s4_portable_params *p, const int8_t *input,
                           const uint8_t *weight, const int32_t *bias, const int32_t *multiplier,
                           const int8_t *rounding_shift, int8_t *output, uint8_t *scratch);

/* Computes the `count` channels from c on, 1 to 4, of one pixel. A filter has `size` weights. */
MG_INLINE void mg_conv2d_s4_pixel(const mg_conv2d_s8_window *window, const mg_scaling *scaling,
                                  const int32_t *bias, int32_t c, int32_t count, int32_t size,
                                  int32_t offset, int8_t *out, int dsp)
{
    if (count == 4) {
        const mg_sums sums = mg_conv2d_s8_dot_4(window, mg_bias_4(bias, c), 0, size, offset, dsp);
        mg_store_4(scaling, c, sums, out);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t sum = mg_conv2d_s8_dot_1(window, mg_bias(bias, c + i), i, size, offset);
        out[c + i] = mg_scaled(scaling, c + i, sum);
    }
}

MG_INLINE void mg_conv2d_s4_blocks(const mg_conv2d_s4_params *p, const int8_t *input,
                                   const uint8_t *weight, const int32_t *bias,
                                   const int32_t *multiplier, const int8_t *rounding_shift,
                                   int8_t *output, uint8_t *scratch, int dsp)
{
    const mg_scaling scaling = {multiplier, rounding_shift, p->output_offset, p->activation_min,
                                p->activation_max};
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
                    int8_t *out =
                        &output[mg_nhwc(n, y, x, p->output_height, p->output_width, channels)];
                    mg_conv2d_s4_pixel(&window, &scaling, bias, c, count, size, p->input_offset,
                                       out, dsp);
                }
            }
        }
    }
}

MG_INLINE void mg_conv2d_s4_dsp_body(const mg_conv2d_s4_dsp_params *p, const int8_t *input,
                                     const uint8_t *weight, const int32_t *bias,
                                     const int32_t *multiplier, const int8_t *rounding_shift,
                                     int8_t *output, uint8_t *scratch)
{
    mg_conv2d_s4_blocks(p, input, weight, bias, multiplier, rounding_shift, output, scratch, 1);
}

MG_INLINE void mg_conv2d_s4_portable_body(const mg_conv2d_s4_portable_params *p,
                                          const int8_t *input, const uint8_t *weight,
                                          const int32_t *bias, const int32_t *multiplier,
                                          const int8_t *rounding_shift, int8_t *output,
                                          uint8_t *scratch)
{
    mg_conv2d_s4_blocks(p, input, weight, bias, multiplier, rounding_shift, output, scratch, 0);
}

#ifdef MG_CONV2D_S4_BLOCKS_IMPLEMENTATION /* the out-of-line forms */
void mg_conv2d_s4_dsp(const mg_conv2d_s4_dsp_params *p, const int8_t *input, const uint8_t *weight,
                      const int32_t *bias, const int32_t *multiplier, const int8_t *rounding_shift,
                      int8_t *output, uint8_t *scratch)
{
    mg_conv2d_s4_dsp_body(p, input, weight, bias, multiplier, rounding_shift, output, scratch);
}

void mg_conv2d_s4_portable(const mg_conv2d_s4_portable_params *p, const int8_t *input,
                           const uint8_t *weight, const int32_t *bias, const int32_t *multiplier,
                           const int8_t *rounding_shift, int8_t *output, uint8_t *scratch)
{
    mg_conv2d_s4_portable_body(p, input, weight, bias, multiplier, rounding_shift, output, scratch);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
