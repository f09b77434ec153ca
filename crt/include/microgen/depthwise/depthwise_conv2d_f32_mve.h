/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, float32, for MVE with floats: four pixels and four channels at a time.
 */
#ifndef MICROGEN_DEPTHWISE_CONV2D_F32_MVE_H
#define MICROGEN_DEPTHWISE_CONV2D_F32_MVE_H

#include "microgen/blocks/blocks_f32_mve.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/convolution/pixel_lines.h"
#include "microgen/depthwise/depthwise_conv2d_f32.h"
#include "microgen/out_of_line.h"

typedef mg_depthwise_conv2d_f32_params mg_depthwise_conv2d_f32_mve_params;

/* Computes the same as mg_depthwise_conv2d_f32_body, except that sums begin with the bias and
 * products are fused with additions. There must be four or more channels, and as many inputs as
 * outputs. */
MG_EXTERN void mg_depthwise_conv2d_f32_mve(MG_ARGUMENTS_F32(mg_depthwise_conv2d_f32_mve));

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)

/* Four channels of one pixel. `values` and `weights` begin at the window's first of these. */
MG_INLINE float32x4_t mg_depthwise_f32_mve_pixel(float32x4_t sums, const mg_window *window,
                                                 const float *values, const float *weights)
{
    for (int32_t row = 0; row < window->rows; row++) {
        const float *value = &values[row * window->next_row];
        const float *tap = &weights[row * window->next_weight_row];
        for (int32_t run = window->runs; run > 0; run--) {
            sums = vfmaq_f32(sums, vldrwq_f32(value), vldrwq_f32(tap));
            value += window->next_run;
            tap += window->next_weight_run;
        }
    }
    return sums;
}

/* The same of four pixels that are `step` values apart. */
MG_INLINE mg_mve_sums_f32 mg_depthwise_f32_mve_block(mg_mve_sums_f32 sums, const mg_window *window,
                                                     const float *values, int32_t step,
                                                     const float *weights)
{
    for (int32_t row = 0; row < window->rows; row++) {
        const float *value = &values[row * window->next_row];
        const float *tap = &weights[row * window->next_weight_row];
        for (int32_t run = window->runs; run > 0; run--) {
            const float32x4_t w = vldrwq_f32(tap);
            sums.p = vfmaq_f32(sums.p, vldrwq_f32(value), w);
            sums.q = vfmaq_f32(sums.q, vldrwq_f32(&value[step]), w);
            sums.r = vfmaq_f32(sums.r, vldrwq_f32(&value[2 * step]), w);
            sums.s = vfmaq_f32(sums.s, vldrwq_f32(&value[3 * step]), w);
            value += window->next_run;
            tap += window->next_weight_run;
        }
    }
    return sums;
}

/* All channels of one pixel, or of four of a line (`is_block`). The last four channels may be
 * computed together with some that are already known. */
MG_INLINE void mg_depthwise_f32_mve_channels(const mg_depthwise_conv2d_f32_mve_params *p,
                                             const mg_pixel_lines *lines, const mg_window *window,
                                             int is_block, float *pixel, const float *input,
                                             const float *weight, const float *bias)
{
    const float least = p->activation_min;
    const float most = p->activation_max;
    const int32_t last = p->shape.output_channels - MG_MVE_FLOATS;
    const int32_t step = lines->output_step;

    for (int32_t c = 0; c < p->shape.output_channels; c += MG_MVE_FLOATS) {
        const int32_t from = (c < last) ? c : last;
        const float *values = &input[window->value + from];
        const float *weights = &weight[window->weight + from];
        const float32x4_t start = mg_mve_bias_f32(bias, from, vctp32q(MG_MVE_FLOATS));
        float *output = &pixel[from];
        if (is_block != 0) {
            const mg_mve_sums_f32 starts = {start, start, start, start};
            const mg_mve_sums_f32 sums =
                mg_depthwise_f32_mve_block(starts, window, values, lines->value_step, weights);
            vstrwq_f32(output, mg_mve_clamp_f32(sums.p, least, most));
            vstrwq_f32(output + step, mg_mve_clamp_f32(sums.q, least, most));
            vstrwq_f32(output + 2 * step, mg_mve_clamp_f32(sums.r, least, most));
            vstrwq_f32(output + 3 * step, mg_mve_clamp_f32(sums.s, least, most));
        } else {
            const float32x4_t sums = mg_depthwise_f32_mve_pixel(start, window, values, weights);
            vstrwq_f32(output, mg_mve_clamp_f32(sums, least, most));
        }
    }
}

MG_INLINE void mg_depthwise_conv2d_f32_mve_body(MG_ARGUMENTS_F32(mg_depthwise_conv2d_f32_mve))
{
    MG_PIXELS_F32(4, mg_depthwise_f32_mve_channels, mg_depthwise_window_at, p, output, input,
                  weight, bias);
}

#ifdef MG_DEPTHWISE_CONV2D_F32_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_depthwise_conv2d_f32_mve, (p, input, weight, bias, output),
               MG_ARGUMENTS_F32(mg_depthwise_conv2d_f32_mve))
#endif

#endif

#endif
