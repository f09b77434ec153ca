/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, float32, in blocks of four pixels and four channels, for cores with an
 * FPU. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_F32_BLOCKS_H
#define MICROGEN_DEPTHWISE_CONV2D_F32_BLOCKS_H

#include "microgen/blocks/blocks_f32.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/convolution/pixel_lines.h"
#include "microgen/depthwise/depthwise_conv2d_f32.h"
#include "microgen/out_of_line.h"

typedef mg_depthwise_conv2d_f32_params mg_depthwise_conv2d_f32_blocks_params;

/* Adds the products of four values with a weight each. */
MG_INLINE mg_sums_f32 mg_add_each_f32(mg_sums_f32 sums, const float *values, mg_sums_f32 weights,
                                      int fused)
{
    sums.a = mg_add_product_f32(sums.a, values[0], weights.a, fused);
    sums.b = mg_add_product_f32(sums.b, values[1], weights.b, fused);
    sums.c = mg_add_product_f32(sums.c, values[2], weights.c, fused);
    sums.d = mg_add_product_f32(sums.d, values[3], weights.d, fused);
    return sums;
}

/* Adds the products of the windows of four channels to their sums. */
MG_INLINE mg_sums_f32 mg_depthwise_f32_pixel_sums(mg_sums_f32 sums, const mg_window *window,
                                                  const float *values, const float *weight,
                                                  int fused)
{
    for (int32_t row = 0; row < window->rows; row++) {
        const float *value = &values[row * window->next_row];
        const float *tap = &weight[row * window->next_weight_row];
        for (int32_t run = window->runs; run > 0; run--) {
            const mg_sums_f32 weights = {tap[0], tap[1], tap[2], tap[3]};
            sums = mg_add_each_f32(sums, value, weights, fused);
            value += window->next_run;
            tap += window->next_weight_run;
        }
    }
    return sums;
}

/* The same for four pixels that are `step` values apart, whose sums are `sums` before. */
MG_INLINE mg_sums_16_f32 mg_depthwise_f32_block_sums(mg_sums_f32 sums, const mg_window *window,
                                                     const float *values, int32_t step,
                                                     const float *weight, int fused)
{
    mg_sums_16_f32 found = {sums, sums, sums, sums};

    for (int32_t row = 0; row < window->rows; row++) {
        const float *value = &values[row * window->next_row];
        const float *tap = &weight[row * window->next_weight_row];
        for (int32_t run = window->runs; run > 0; run--) {
            const mg_sums_f32 weights = {tap[0], tap[1], tap[2], tap[3]};
            found.p = mg_add_each_f32(found.p, value, weights, fused);
            found.q = mg_add_each_f32(found.q, &value[step], weights, fused);
            found.r = mg_add_each_f32(found.r, &value[2 * step], weights, fused);
            found.s = mg_add_each_f32(found.s, &value[3 * step], weights, fused);
            value += window->next_run;
            tap += window->next_weight_run;
        }
    }
    return found;
}

/* Computes all channels of a pixel, or of four of a line (`is_block`). The last four channels may
 * be computed together with some that are already known. */
MG_INLINE void mg_depthwise_f32_pixels(const mg_depthwise_conv2d_f32_blocks_params *p,
                                       const mg_pixel_lines *lines, const mg_window *window,
                                       int is_block, float *pixel, const float *input,
                                       const float *weight, const float *bias, int fused)
{
    const mg_range_f32 range = {p->activation_min, p->activation_max};
    const int32_t last = p->shape.output_channels - 4;

    for (int32_t c = 0; c < last + 4; c += 4) {
        const int32_t from = (c < last) ? c : last;
        const float *values = &input[window->value + from];
        const float *taps = &weight[window->weight + from];
        const mg_sums_f32 start = mg_bias_4_f32(bias, from);
        if (is_block != 0) {
            mg_clamp_16_f32(
                range,
                mg_depthwise_f32_block_sums(start, window, values, lines->value_step, taps, fused),
                &pixel[from], lines->output_step);
        } else {
            mg_clamp_4_f32(range, mg_depthwise_f32_pixel_sums(start, window, values, taps, fused),
                           &pixel[from]);
        }
    }
}

/* Computes the same as mg_depthwise_conv2d_f32_body, except that sums begin with the bias and are
 * added as `fused` says. There must be four or more channels, and as many inputs as outputs. */
MG_INLINE void mg_depthwise_conv2d_f32_blocks_body(MG_ARGUMENTS_F32(mg_depthwise_conv2d_f32_blocks),
                                                   int fused)
{
    MG_PIXELS_F32(mg_depthwise_f32_pixels, mg_depthwise_window_at, p, output, input, weight, bias,
                  fused);
}

#define MG_DEPTHWISE_CONV2D_F32_BLOCKS_PROTOTYPE(name)                                             \
    void name(const mg_depthwise_conv2d_f32_blocks_params *p, const float *input,                  \
              const float *weight, const float *bias, float *output)

#define MG_DEPTHWISE_CONV2D_F32_BLOCKS_KERNEL(name, fused)                                         \
    MG_DEPTHWISE_CONV2D_F32_BLOCKS_PROTOTYPE(name);                                                \
    MG_DEPTHWISE_CONV2D_F32_BLOCKS_PROTOTYPE(name)                                                 \
    {                                                                                              \
        mg_depthwise_conv2d_f32_blocks_body(p, input, weight, bias, output, fused);                \
    }

#endif
