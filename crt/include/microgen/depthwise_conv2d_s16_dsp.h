/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int16 with int8 weights, for the DSP extension: four channels at a
 * time. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S16_DSP_H
#define MICROGEN_DEPTHWISE_CONV2D_S16_DSP_H

#include <stdint.h>

#include "microgen/blocks_s16.h"
#include "microgen/conv2d_window.h"
#include "microgen/depthwise_conv2d_s16.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_depthwise_conv2d_s16_params mg_depthwise_conv2d_s16_dsp_params;

/* Computes the same as mg_depthwise_conv2d_s16 with as many inputs as outputs, rounded by
 * MG_ROUND_REDUCED. There must be a multiple of four channels. weight has [taps][channels] with
 * each four channels in the order 0, 2, 1, 3; bias and factor are those of mg_folded_s16. No sum of
 * products and bias may exceed int32. */
void mg_depthwise_conv2d_s16_dsp(const mg_depthwise_conv2d_s16_dsp_params *p, const int16_t *input,
                                 const int8_t *weight, const int32_t *bias, const int32_t *factor,
                                 int16_t *output);

/* The sums of products of four channels, whose values and weights begin at the window's first. */
MG_INLINE mg_sums_1x4_s16 mg_depthwise_s16_dsp_sums(const mg_window *window, const int16_t *values,
                                                    const int8_t *weights)
{
    mg_sums_1x4_s16 sums = {0, 0, 0, 0};

    for (int32_t row = 0; row < window->rows; row++) {
        const int16_t *value = &values[row * window->next_row];
        const int8_t *tap = &weights[row * window->next_weight_row];
        for (int32_t run = window->runs; run > 0; run--) {
            const uint32_t four = mg_load_4_s8(tap);
            const uint32_t first = mg_sxtb16(four);
            const uint32_t second = mg_sxtb16_odd(four);
            const uint32_t low = mg_load_2_s16(value);
            const uint32_t high = mg_load_2_s16(&value[2]);
            sums.a = mg_smlabb(low, first, sums.a);
            sums.b = mg_smlatt(low, first, sums.b);
            sums.c = mg_smlabb(high, second, sums.c);
            sums.d = mg_smlatt(high, second, sums.d);
            value += window->next_run;
            tap += window->next_weight_run;
        }
    }
    return sums;
}

MG_INLINE void mg_depthwise_s16_dsp_pixel(const mg_conv2d_shape *s, const mg_window *window,
                                          const int16_t *input, const int8_t *weight,
                                          const mg_folded_s16 *folded, int16_t *pixel)
{
    for (int32_t c = 0; c < s->output_channels; c += 4) {
        const mg_sums_1x4_s16 sums = mg_depthwise_s16_dsp_sums(window, &input[window->value + c],
                                                               &weight[window->weight + c]);
        pixel[c] = mg_folded_output_s16(folded, c, sums.a);
        pixel[c + 1] = mg_folded_output_s16(folded, c + 1, sums.b);
        pixel[c + 2] = mg_folded_output_s16(folded, c + 2, sums.c);
        pixel[c + 3] = mg_folded_output_s16(folded, c + 3, sums.d);
    }
}

MG_INLINE void mg_depthwise_conv2d_s16_dsp_body(const mg_depthwise_conv2d_s16_dsp_params *p,
                                                const int16_t *input, const int8_t *weight,
                                                const int32_t *bias, const int32_t *factor,
                                                int16_t *output)
{
    const mg_folded_s16 folded = {bias, factor, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    int16_t *pixel = output;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            for (int32_t x = 0; x < s->output_width; x++) {
                const mg_window window = mg_depthwise_window_at(s, n, y, x);
                mg_depthwise_s16_dsp_pixel(s, &window, input, weight, &folded, pixel);
                pixel += s->output_channels;
            }
        }
    }
}

#ifdef MG_DEPTHWISE_CONV2D_S16_DSP_IMPLEMENTATION /* the out-of-line form */
void mg_depthwise_conv2d_s16_dsp(const mg_depthwise_conv2d_s16_dsp_params *p, const int16_t *input,
                                 const int8_t *weight, const int32_t *bias, const int32_t *factor,
                                 int16_t *output)
{
    mg_depthwise_conv2d_s16_dsp_body(p, input, weight, bias, factor, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
