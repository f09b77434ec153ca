/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, int8 with int32 accumulators, grouped and dilated, requantized with one
 * rounding. */
#ifndef MICROGEN_CONV2D_S8_ONCE_H
#define MICROGEN_CONV2D_S8_ONCE_H

#include <stdint.h>

#include "microgen/conv2d_s8.h"
#include "microgen/conv2d_s8_s32.h"
#include "microgen/inline.h"
#include "microgen/requantize_once.h"
#include "microgen/window.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    mg_conv2d_s8_params conv;
    int32_t ties; /* MG_TIES_UPWARD or MG_TIES_AWAY */
} mg_conv2d_s8_once_params;

/* Computes the same as mg_conv2d_s8 with the same arguments, but rounds once. `ties` of the
 * parameters says where ties go. */
void mg_conv2d_s8_once(const mg_conv2d_s8_once_params *p, const int8_t *input, const int8_t *weight,
                       const int32_t *bias, const int32_t *multiplier, const int8_t *shift,
                       int8_t *output);

MG_INLINE void mg_conv2d_s8_once_body(const mg_conv2d_s8_once_params *p, const int8_t *input,
                                      const int8_t *weight, const int32_t *bias,
                                      const int32_t *multiplier, const int8_t *shift,
                                      int8_t *output)
{
    const mg_conv2d_s8_params *q = &p->conv;

    for (int32_t n = 0; n < q->batches; n++) {
        for (int32_t y = 0; y < q->output_height; y++) {
            for (int32_t x = 0; x < q->output_width; x++) {
                int8_t *pixel = &output[mg_nhwc(n, y, x, q->output_height, q->output_width,
                                                q->output_channels)];
                for (int32_t c = 0; c < q->output_channels; c++) {
                    const int32_t total = mg_conv2d_s8_total(q, input, weight, bias, n, y, x, c);
                    const int32_t scaled =
                        mg_requantize_once(total, multiplier[c], shift[c], p->ties);
                    pixel[c] = mg_offset_and_clamp(scaled, q->output_offset, q->activation_min,
                                                   q->activation_max);
                }
            }
        }
    }
}

#ifdef MG_CONV2D_S8_ONCE_IMPLEMENTATION /* the out-of-line form */
void mg_conv2d_s8_once(const mg_conv2d_s8_once_params *p, const int8_t *input, const int8_t *weight,
                       const int32_t *bias, const int32_t *multiplier, const int8_t *shift,
                       int8_t *output)
{
    mg_conv2d_s8_once_body(p, input, weight, bias, multiplier, shift, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
