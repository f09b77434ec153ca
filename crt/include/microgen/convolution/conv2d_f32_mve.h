/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, float32, for MVE with floats: four pixels and four channels at a time. */
#ifndef MICROGEN_CONV2D_F32_MVE_H
#define MICROGEN_CONV2D_F32_MVE_H

#include "microgen/blocks/blocks_f32_mve.h"
#include "microgen/convolution/conv2d_f32.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/convolution/pixel_lines.h"
#include "microgen/out_of_line.h"

typedef mg_conv2d_f32_params mg_conv2d_f32_mve_params;

/* Computes the same as mg_conv2d_f32_body in one group, except that sums begin with the bias and
 * products are fused with additions. weight is in the order of microgen/blocks/blocks_f32_mve.h. */
MG_EXTERN void mg_conv2d_f32_mve(MG_ARGUMENTS_F32(mg_conv2d_f32_mve));

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)

/* Four channels, from c on, of one pixel. `weights` begin at the window's first. */
MG_INLINE void mg_conv2d_f32_mve_pixel(const mg_conv2d_f32_mve_params *p, const mg_window *window,
                                       const float *values, const float *weights, float32x4_t start,
                                       mve_pred16_t active, float *output)
{
    float32x4_t sums = start;

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            const int32_t at = row * window->next_weight_row + run * window->next_weight_run;
            sums = mg_mve_dot_f32(sums, &values[row * window->next_row + run * window->next_run],
                                  &weights[at * MG_MVE_FLOATS], window->length);
        }
    }
    vstrwq_p_f32(output, mg_mve_clamp_f32(sums, p->activation_min, p->activation_max), active);
}

/* The same of four pixels of a line. */
MG_INLINE void mg_conv2d_f32_mve_block(const mg_conv2d_f32_mve_params *p,
                                       const mg_pixel_lines *lines, const mg_window *window,
                                       const float *values, const float *weights, float32x4_t start,
                                       mve_pred16_t active, float *output)
{
    const float least = p->activation_min;
    const float most = p->activation_max;
    mg_mve_sums_f32 sums = {start, start, start, start};

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            const int32_t at = row * window->next_weight_row + run * window->next_weight_run;
            sums = mg_mve_dot_pixels_f32(
                sums, &values[row * window->next_row + run * window->next_run], lines->value_step,
                &weights[at * MG_MVE_FLOATS], window->length);
        }
    }
    vstrwq_p_f32(output, mg_mve_clamp_f32(sums.p, least, most), active);
    vstrwq_p_f32(output + lines->output_step, mg_mve_clamp_f32(sums.q, least, most), active);
    vstrwq_p_f32(output + 2 * lines->output_step, mg_mve_clamp_f32(sums.r, least, most), active);
    vstrwq_p_f32(output + 3 * lines->output_step, mg_mve_clamp_f32(sums.s, least, most), active);
}

/* All channels of one pixel, or of four of a line (`is_block`). */
MG_INLINE void mg_conv2d_f32_mve_channels(const mg_conv2d_f32_mve_params *p,
                                          const mg_pixel_lines *lines, const mg_window *window,
                                          int is_block, float *pixel, const float *input,
                                          const float *weight, const float *bias)
{
    const mg_conv2d_shape *s = &p->shape;
    const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;
    const float *values = &input[window->value];

    for (int32_t c = 0; c < s->output_channels; c += MG_MVE_FLOATS) {
        const mve_pred16_t active = vctp32q((uint32_t)(s->output_channels - c));
        const float32x4_t start = mg_mve_bias_f32(bias, c, active);
        const float *weights = &weight[c * size + window->weight * MG_MVE_FLOATS];
        if (is_block != 0) {
            mg_conv2d_f32_mve_block(p, lines, window, values, weights, start, active, &pixel[c]);
        } else {
            mg_conv2d_f32_mve_pixel(p, window, values, weights, start, active, &pixel[c]);
        }
    }
}

MG_INLINE void mg_conv2d_f32_mve_body(MG_ARGUMENTS_F32(mg_conv2d_f32_mve))
{
    MG_PIXELS_F32(4, mg_conv2d_f32_mve_channels, mg_conv2d_window_at, p, output, input, weight,
                  bias);
}

#ifdef MG_CONV2D_F32_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_f32_mve, (p, input, weight, bias, output),
               MG_ARGUMENTS_F32(mg_conv2d_f32_mve))
#endif

#endif

#endif
