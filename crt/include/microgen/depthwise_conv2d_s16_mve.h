/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int16 with int8 weights, for MVE: four channels at a time. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S16_MVE_H
#define MICROGEN_DEPTHWISE_CONV2D_S16_MVE_H

#include <stdint.h>

#include "microgen/blocks_s16_mve.h"
#include "microgen/conv2d_window.h"
#include "microgen/depthwise_conv2d_s16.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_depthwise_conv2d_s16_params mg_depthwise_conv2d_s16_mve_params;

/* Computes the same as mg_depthwise_conv2d_s16 with as many inputs as outputs, four or more,
 * rounded by MG_ROUND_REDUCED. bias and factor are those of mg_folded_s16. No sum of products and
 * bias may exceed int32. */
void mg_depthwise_conv2d_s16_mve(const mg_depthwise_conv2d_s16_mve_params *p, const int16_t *input,
                                 const int8_t *weight, const int32_t *bias, const int32_t *factor,
                                 int16_t *output);

#if defined(__ARM_FEATURE_MVE)

/* The sums of products of four channels, whose values and weights begin at the window's first. */
MG_INLINE int32x4_t mg_depthwise_s16_mve_sums(const mg_window *window, const int16_t *values,
                                              const int8_t *weights)
{
    int32x4_t sums = vdupq_n_s32(0);

    for (int32_t row = 0; row < window->rows; row++) {
        const int16_t *value = &values[row * window->next_row];
        const int8_t *tap = &weights[row * window->next_weight_row];
        for (int32_t run = window->runs; run > 0; run--) {
            sums = vaddq_s32(sums, vmulq_s32(vldrhq_s32(value), vldrbq_s32(tap)));
            value += window->next_run;
            tap += window->next_weight_run;
        }
    }
    return sums;
}

/* Computes all channels of a pixel. The last four may be computed together with some that are
 * already known. */
MG_INLINE void mg_depthwise_s16_mve_pixel(const mg_conv2d_shape *s, const mg_window *window,
                                          const int16_t *input, const int8_t *weight,
                                          const mg_folded_s16 *folded, int16_t *pixel)
{
    const int32_t last = s->output_channels - MG_MVE_ROWS;

    for (int32_t c = 0; c < s->output_channels; c += MG_MVE_ROWS) {
        const int32_t from = (c < last) ? c : last;
        const int32x4_t sums = mg_depthwise_s16_mve_sums(window, &input[window->value + from],
                                                         &weight[window->weight + from]);
        const int32x4_t scaled = vrmulhq_s32(vaddq_s32(sums, vldrwq_s32(&folded->bias[from])),
                                             vldrwq_s32(&folded->factor[from]));
        vstrhq_s32(&pixel[from],
                   mg_mve_clamp_s16(scaled, folded->activation_min, folded->activation_max));
    }
}

MG_INLINE void mg_depthwise_conv2d_s16_mve_body(const mg_depthwise_conv2d_s16_mve_params *p,
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
                mg_depthwise_s16_mve_pixel(s, &window, input, weight, &folded, pixel);
                pixel += s->output_channels;
            }
        }
    }
}

#ifdef MG_DEPTHWISE_CONV2D_S16_MVE_IMPLEMENTATION /* the out-of-line form */
void mg_depthwise_conv2d_s16_mve(const mg_depthwise_conv2d_s16_mve_params *p, const int16_t *input,
                                 const int8_t *weight, const int32_t *bias, const int32_t *factor,
                                 int16_t *output)
{
    mg_depthwise_conv2d_s16_mve_body(p, input, weight, bias, factor, output);
}
#endif

#endif

#ifdef __cplusplus
}
#endif

#endif
