/* SPDX-License-Identifier: Apache-2.0 */
/* A depthwise convolution and the 1x1 convolution after it, int8, without a tensor between them. */
#ifndef MICROGEN_DEPTHWISE_POINTWISE_S8_H
#define MICROGEN_DEPTHWISE_POINTWISE_S8_H

#include "microgen/convolution/s8/conv2d_s8_blocks.h"
#include "microgen/depthwise/depthwise_conv2d_s8_blocks.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

typedef struct {
    mg_depthwise_conv2d_s8_blocks_params depthwise;
    mg_conv2d_1x1_s8_blocks_params pointwise; /* its input is the depthwise convolution's output */
} mg_depthwise_pointwise_s8_params;

/* Computes what mg_depthwise_conv2d_s8_blocks_body and then mg_conv2d_1x1_s8_blocks_body compute,
 * pixel by pixel. The arguments of the first convolution begin with dw_, those of the second with
 * pw_. scratch [channels between them] holds one pixel. Output must not overlap the input. `loop`
 * and `requantization` are those of both. */
MG_INLINE void mg_depthwise_pointwise_s8_body(const mg_depthwise_pointwise_s8_params *p,
                                              const int8_t *input, const int8_t *dw_weight,
                                              const int32_t *dw_bias, const int32_t *dw_multiplier,
                                              const int8_t *dw_shift, const int8_t *pw_weight,
                                              const int32_t *pw_bias, const int32_t *pw_multiplier,
                                              const int8_t *pw_shift, void *output,
                                              uint8_t *scratch, int loop, int requantization)
{
    const mg_depthwise_conv2d_s8_blocks_params *dw = &p->depthwise;
    const mg_conv2d_1x1_s8_blocks_params *pw = &p->pointwise;
    const mg_scaling inner = {dw_multiplier, dw_shift, dw->output_offset, dw->activation_min,
                              dw->activation_max};
    const mg_scaling outer = {pw_multiplier, pw_shift, pw->output_offset, pw->activation_min,
                              pw->activation_max};
    int8_t *pixel = (int8_t *)scratch;

    for (int32_t n = 0; n < dw->batches; n++) {
        for (int32_t y = 0; y < dw->output_height; y++) {
            for (int32_t x = 0; x < dw->output_width; x++) {
                const int32_t at =
                    mg_nhwc(n, y, x, dw->output_height, dw->output_width, pw->output_channels);
                mg_depthwise_conv2d_s8_pixel(dw, &inner, input, dw_weight, dw_bias, n, y, x, pixel,
                                             loop, requantization);
                mg_conv2d_1x1_s8_pixel(pw, &outer, pixel, pw_weight, pw_bias, (int8_t *)output + at,
                                       loop, requantization);
            }
        }
    }
}

#define MG_DEPTHWISE_POINTWISE_S8_PROTOTYPE(name)                                                  \
    void name(const mg_depthwise_pointwise_s8_params *p, const int8_t *input,                      \
              const int8_t *dw_weight, const int32_t *dw_bias, const int32_t *dw_multiplier,       \
              const int8_t *dw_shift, const int8_t *pw_weight, const int32_t *pw_bias,             \
              const int32_t *pw_multiplier, const int8_t *pw_shift, void *output,                  \
              uint8_t *scratch)
#define MG_DEPTHWISE_POINTWISE_S8_KERNEL(name, ...)                                                \
    MG_DEPTHWISE_POINTWISE_S8_PROTOTYPE(name);                                                     \
    MG_DEPTHWISE_POINTWISE_S8_PROTOTYPE(name)                                                      \
    {                                                                                              \
        mg_depthwise_pointwise_s8_body(p, input, dw_weight, dw_bias, dw_multiplier, dw_shift,      \
                                       pw_weight, pw_bias, pw_multiplier, pw_shift, output,        \
                                       scratch, __VA_ARGS__);                                      \
    }

#endif
