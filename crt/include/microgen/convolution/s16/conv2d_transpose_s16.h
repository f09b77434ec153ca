/* SPDX-License-Identifier: Apache-2.0 */
/* Transposed 2-D convolution, int16 with int8 weights and int64 accumulators. */
#ifndef MICROGEN_CONV2D_TRANSPOSE_S16_H
#define MICROGEN_CONV2D_TRANSPOSE_S16_H

#include <stdint.h>

#include "microgen/convolution/conv2d_transpose_window.h"
#include "microgen/convolution/s16/conv2d_s16.h"
#include "microgen/inline.h"
#include "microgen/requantization/requantize_s16.h"

typedef struct {
    mg_conv2d_shape shape;  /* with strides and padding of the forward convolution */
    int32_t rounding;       /* MG_ROUND_DOUBLE or MG_ROUND_REDUCED */
    int32_t activation_min; /* -32768 to 32767 */
    int32_t activation_max; /* activation_min to 32767 */
} mg_conv2d_transpose_s16_params;

/* For every pixel (y, x) of input [batches][input_height][input_width][input_channels], adds its
 * product with weight [output_channels][kernel_height][kernel_width][input_channels] to the full
 * result at (y * stride_height, x * stride_width). Then writes the part of the full result that
 * begins at (pad_top, pad_left) to output [batches][output_height][output_width][output_channels].
 * The output may reach beyond the full result, which is 0 there.
 *
 * bias [output_channels] may be NULL. multiplier and shift have output_channels elements;
 * microgen/requantization/requantize_s16.h describes them. Output must not overlap the input. The
 * magnitude of every sum of bias and products must be below 2^47. */
MG_EXTERN void mg_conv2d_transpose_s16(const mg_conv2d_transpose_s16_params *p,
                                       const int16_t *input, const int8_t *weight,
                                       const int64_t *bias, const int32_t *multiplier,
                                       const int8_t *shift, int16_t *output);

MG_INLINE void mg_conv2d_transpose_s16_body(const mg_conv2d_transpose_s16_params *p,
                                            const int16_t *input, const int8_t *weight,
                                            const int64_t *bias, const int32_t *multiplier,
                                            const int8_t *shift, int16_t *output)
{
    const mg_scaling_s16 scaling = {bias,        multiplier,        shift,
                                    p->rounding, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    int16_t *pixel = output;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t y = 0; y < s->output_height; y++) {
            for (int32_t x = 0; x < s->output_width; x++) {
                const mg_window window = mg_conv2d_transpose_window_at(s, n, y, x);
                mg_conv2d_s16_channels(s, &window, &input[window.value], weight, &scaling, 0,
                                       s->output_channels, pixel);
                pixel += s->output_channels;
            }
        }
    }
}

#ifdef MG_CONV2D_TRANSPOSE_S16_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_transpose_s16, (p, input, weight, bias, multiplier, shift, output),
               const mg_conv2d_transpose_s16_params *p, const int16_t *input, const int8_t *weight,
               const int64_t *bias, const int32_t *multiplier, const int8_t *shift, int16_t *output)
#endif

#endif
