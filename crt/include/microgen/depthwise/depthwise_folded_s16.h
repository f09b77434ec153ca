/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int16 with int8 weights and the scaling of mg_folded_s16: four
 * channels at a time, by MVE or by the DSP extension. */
#ifndef MICROGEN_DEPTHWISE_FOLDED_S16_H
#define MICROGEN_DEPTHWISE_FOLDED_S16_H

#include "microgen/depthwise/depthwise_conv2d_s16.h"
#include "microgen/out_of_line.h"

#if defined(__ARM_FEATURE_MVE)
#include "microgen/blocks/blocks_s16_mve.h"
#endif
#include "microgen/blocks/blocks_s16.h"
#include "microgen/blocks/dsp.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/depthwise/depthwise_conv2d_s16.h"

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

#endif

/* Computes all channels of a pixel. */
MG_INLINE void mg_depthwise_s16_pixel(const mg_conv2d_shape *s, const mg_window *window,
                                      const int16_t *input, const int8_t *weight,
                                      const mg_folded_s16 *folded, int by_vectors, int16_t *pixel)
{
#if defined(__ARM_FEATURE_MVE)
    if (by_vectors) {
        mg_depthwise_s16_mve_pixel(s, window, input, weight, folded, pixel);
        return;
    }
#endif
    (void)by_vectors;
    mg_depthwise_s16_dsp_pixel(s, window, input, weight, folded, pixel);
}

/* Computes the layer. `by_vectors`, a constant, says whether by MVE, with weights in their own
 * order and any number of channels from four on. Otherwise each four weights are in the order 0, 2,
 * 1, 3, and there is a multiple of four channels. */
MG_INLINE void mg_depthwise_folded_s16(const mg_depthwise_conv2d_s16_params *p,
                                       const int16_t *input, const int8_t *weight,
                                       const int32_t *bias, const int32_t *factor, int by_vectors,
                                       int16_t *output)
{
    const mg_folded_s16 folded = {bias, factor, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;

    MG_EACH_WINDOW(s, mg_depthwise_window_at, int16_t, output,
                   mg_depthwise_s16_pixel(s, &window, input, weight, &folded, by_vectors, pixel));
}

/* 2-D depthwise convolution, int16 with int8 weights, for the DSP extension: four channels at a
 * time. */
typedef mg_depthwise_conv2d_s16_params mg_depthwise_conv2d_s16_dsp_params;

/* Computes the same as mg_depthwise_conv2d_s16 with as many inputs as outputs, rounded by
 * MG_ROUND_REDUCED. There must be a multiple of four channels. weight has [taps][channels] with
 * each four channels in the order 0, 2, 1, 3; bias and factor are those of mg_folded_s16. No sum of
 * products and bias may exceed int32. */
MG_EXTERN void mg_depthwise_conv2d_s16_dsp(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_dsp,
                                                                 int8_t));

MG_INLINE void mg_depthwise_conv2d_s16_dsp_body(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_dsp,
                                                                      int8_t))
{
    mg_depthwise_folded_s16(p, input, weight, bias, factor, 0, output);
}

/* 2-D depthwise convolution, int16 with int8 weights, for MVE: four channels at a time. */
typedef mg_depthwise_conv2d_s16_params mg_depthwise_conv2d_s16_mve_params;

/* Computes the same as mg_depthwise_conv2d_s16 with as many inputs as outputs, four or more,
 * rounded by MG_ROUND_REDUCED. bias and factor are those of mg_folded_s16. No sum of products and
 * bias may exceed int32. */
MG_EXTERN void mg_depthwise_conv2d_s16_mve(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_mve,
                                                                 int8_t));

#if defined(__ARM_FEATURE_MVE)

MG_INLINE void mg_depthwise_conv2d_s16_mve_body(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_mve,
                                                                      int8_t))
{
    mg_depthwise_folded_s16(p, input, weight, bias, factor, 1, output);
}

#ifdef MG_DEPTHWISE_FOLDED_S16_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_depthwise_conv2d_s16_mve, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_mve, int8_t))
#endif

#endif

#ifdef MG_DEPTHWISE_FOLDED_S16_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_depthwise_conv2d_s16_dsp, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_dsp, int8_t))
#endif

#endif
