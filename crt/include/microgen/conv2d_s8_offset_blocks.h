/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of one group with undilated columns, int8, of weights with a zero point, four
 * output channels at a time, in plain C and with the Arm DSP extension. */
#ifndef MICROGEN_CONV2D_S8_OFFSET_BLOCKS_H
#define MICROGEN_CONV2D_S8_OFFSET_BLOCKS_H

#include <stdint.h>

#include "microgen/blocks_s8.h"
#include "microgen/conv2d_s8_offset.h"
#include "microgen/conv2d_s8_portable.h"
#include "microgen/inline.h"
#include "microgen/requantize.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_conv2d_s8_offset_params mg_conv2d_s8_offset_dsp_params;
typedef mg_conv2d_s8_offset_params mg_conv2d_s8_offset_portable_params;

/* Compute the same as mg_conv2d_s8_offset with the same arguments. There must be one group, and
 * dilation_width must be 1. With v = input + input_offset, the magnitudes of the bias, of the
 * products v * weight and of the products v * weight_offset must fit int32 together. */
void mg_conv2d_s8_offset_dsp(const mg_conv2d_s8_offset_dsp_params *p, const int8_t *input,
                             const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                             const int8_t *shift, int8_t *output);
void mg_conv2d_s8_offset_portable(const mg_conv2d_s8_offset_portable_params *p, const int8_t *input,
                                  const int8_t *weight, const int32_t *bias,
                                  const int32_t *multiplier, const int8_t *shift, int8_t *output);

/* What the weights' offset adds to the sum of every output channel: the sum of the window's values
 * times the offset. */
MG_INLINE int32_t mg_conv2d_s8_offset_part(const mg_conv2d_s8_offset_params *p,
                                           const mg_conv2d_s8_window *window)
{
    const int8_t *values = window->values;
    int32_t sum = window->rows * window->run * p->conv.input_offset;

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t i = 0; i < window->run; i++) {
            sum += values[i];
        }
        values += window->value_step;
    }
    return sum * p->weight_offset;
}

MG_INLINE int8_t mg_conv2d_s8_offset_scaled(const mg_conv2d_s8_params *p, int32_t sum,
                                            int32_t multiplier, int32_t shift)
{
    return mg_offset_and_clamp(mg_requantize(sum, multiplier, shift), p->output_offset,
                               p->activation_min, p->activation_max);
}

MG_INLINE void mg_conv2d_s8_offset_pixel(const mg_conv2d_s8_offset_params *p,
                                         const mg_conv2d_s8_window *window, const int32_t *bias,
                                         const int32_t *multiplier, const int8_t *shift,
                                         int8_t *out, int dsp)
{
    const mg_conv2d_s8_params *q = &p->conv;
    const int32_t whole = q->output_channels - q->output_channels % 4;
    const int32_t size = q->kernel_height * q->kernel_width * q->input_channels;
    const int32_t part = mg_conv2d_s8_offset_part(p, window);

    for (int32_t c = 0; c < whole; c += 4) {
        mg_sums sums = mg_bias_4(bias, c);
        sums.a += part;
        sums.b += part;
        sums.c += part;
        sums.d += part;
        sums = mg_conv2d_s8_dot_4(window, sums, c, size, q->input_offset, dsp);
        out[c] = mg_conv2d_s8_offset_scaled(q, sums.a, multiplier[c], shift[c]);
        out[c + 1] = mg_conv2d_s8_offset_scaled(q, sums.b, multiplier[c + 1], shift[c + 1]);
        out[c + 2] = mg_conv2d_s8_offset_scaled(q, sums.c, multiplier[c + 2], shift[c + 2]);
        out[c + 3] = mg_conv2d_s8_offset_scaled(q, sums.d, multiplier[c + 3], shift[c + 3]);
    }
    for (int32_t c = whole; c < q->output_channels; c++) {
        const int32_t sum =
            mg_conv2d_s8_dot_1(window, mg_bias(bias, c) + part, c, size, q->input_offset);
        out[c] = mg_conv2d_s8_offset_scaled(q, sum, multiplier[c], shift[c]);
    }
}

MG_INLINE void mg_conv2d_s8_offset_blocks(const mg_conv2d_s8_offset_params *p, const int8_t *input,
                                          const int8_t *weight, const int32_t *bias,
                                          const int32_t *multiplier, const int8_t *shift,
                                          int8_t *output, int dsp)
{
    const mg_conv2d_s8_params *q = &p->conv;

    for (int32_t n = 0; n < q->batches; n++) {
        for (int32_t y = 0; y < q->output_height; y++) {
            for (int32_t x = 0; x < q->output_width; x++) {
                const mg_conv2d_s8_window window =
                    mg_conv2d_s8_window_at(q, input, weight, n, y, x);
                int8_t *out = &output[mg_nhwc(n, y, x, q->output_height, q->output_width,
                                              q->output_channels)];
                mg_conv2d_s8_offset_pixel(p, &window, bias, multiplier, shift, out, dsp);
            }
        }
    }
}

MG_INLINE void mg_conv2d_s8_offset_dsp_body(const mg_conv2d_s8_offset_dsp_params *p,
                                            const int8_t *input, const int8_t *weight,
                                            const int32_t *bias, const int32_t *multiplier,
                                            const int8_t *shift, int8_t *output)
{
    mg_conv2d_s8_offset_blocks(p, input, weight, bias, multiplier, shift, output, 1);
}

MG_INLINE void mg_conv2d_s8_offset_portable_body(const mg_conv2d_s8_offset_portable_params *p,
                                                 const int8_t *input, const int8_t *weight,
                                                 const int32_t *bias, const int32_t *multiplier,
                                                 const int8_t *shift, int8_t *output)
{
    mg_conv2d_s8_offset_blocks(p, input, weight, bias, multiplier, shift, output, 0);
}

#ifdef MG_CONV2D_S8_OFFSET_BLOCKS_IMPLEMENTATION /* the out-of-line forms */
void mg_conv2d_s8_offset_dsp(const mg_conv2d_s8_offset_dsp_params *p, const int8_t *input,
                             const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                             const int8_t *shift, int8_t *output)
{
    mg_conv2d_s8_offset_dsp_body(p, input, weight, bias, multiplier, shift, output);
}

void mg_conv2d_s8_offset_portable(const mg_conv2d_s8_offset_portable_params *p, const int8_t *input,
                                  const int8_t *weight, const int32_t *bias,
                                  const int32_t *multiplier, const int8_t *shift, int8_t *output)
{
    mg_conv2d_s8_offset_portable_body(p, input, weight, bias, multiplier, shift, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
