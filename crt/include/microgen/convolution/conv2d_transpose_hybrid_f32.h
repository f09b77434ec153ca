/* SPDX-License-Identifier: Apache-2.0 */
/* Hybrid transposed 2-D convolution: float32 with int8 weights, multiplied in integers. */
#ifndef MICROGEN_CONV2D_TRANSPOSE_HYBRID_F32_H
#define MICROGEN_CONV2D_TRANSPOSE_HYBRID_F32_H

#include "microgen/convolution/hybrid_images.h"
#include "microgen/out_of_line.h"

typedef struct {
    mg_conv2d_shape shape; /* strides and padding are those of the forward convolution */
    int32_t per_channel;   /* 1: one scale per filter; 0: one for all */
    float activation_min;  /* finite */
    float activation_max;  /* finite, activation_min or more */
} mg_conv2d_transpose_hybrid_f32_params;

/* The same as mg_conv2d_transpose_f32 for input [batches][input_height][input_width]
 * [input_channels], each image quantized to int8 with a zero point, and weight
 * [output_channels][kernel_height][kernel_width][input_channels].
 *
 * Each product is scaled to float32, by the filter's scale and then by the image's, before it is
 * added. bias [output_channels] may be NULL. scale contains the weight's scales: output_channels
 * elements if per_channel is 1, otherwise one. scratch must have input_height * input_width *
 * input_channels bytes. Output must not overlap the input. */
MG_EXTERN void mg_conv2d_transpose_hybrid_f32(MG_ARGUMENTS_HYBRID(mg_conv2d_transpose_hybrid_f32));

/* The sum of the scaled products of a filter and the pixels that reach an output. */
MG_INLINE float mg_conv2d_transpose_hybrid_sum(const mg_window *window, const int8_t *values,
                                               mg_hybrid meaning, const int8_t *filter, float scale)
{
    float sum = 0.0F;

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            const int8_t *pixel = &values[row * window->next_row + run * window->next_run];
            const int8_t *tap =
                &filter[row * window->next_weight_row + run * window->next_weight_run];
            for (int32_t i = 0; i < window->length; i++) {
                sum += (float)((pixel[i] + meaning.offset) * tap[i]) * scale * meaning.scale;
            }
        }
    }
    return sum;
}

/* Computes one output pixel. */
MG_INLINE void mg_conv2d_transpose_hybrid_pixel(const mg_conv2d_shape *s, const mg_window *window,
                                                const int8_t *image, mg_hybrid meaning,
                                                const int8_t *weight,
                                                const mg_finish_hybrid *finish, float *pixel)
{
    const int32_t size = s->kernel_height * s->kernel_width * s->input_channels;

    for (int32_t c = 0; c < s->output_channels; c++) {
        const float scale = finish->scale[(finish->per_channel != 0) ? c : 0];
        const float sum = mg_conv2d_transpose_hybrid_sum(window, &image[window->value], meaning,
                                                         &weight[c * size + window->weight], scale);
        pixel[c] = mg_biased_hybrid(finish, c, sum);
    }
}

MG_INLINE void
mg_conv2d_transpose_hybrid_f32_body(MG_ARGUMENTS_HYBRID(mg_conv2d_transpose_hybrid_f32))
{
    const mg_finish_hybrid finish = {bias, scale, p->per_channel, p->activation_min,
                                     p->activation_max};

    MG_HYBRID_IMAGES(mg_conv2d_transpose_hybrid_pixel, mg_conv2d_transpose_window_at, 1, p, input,
                     weight, &finish, output, scratch);
}

#ifdef MG_CONV2D_TRANSPOSE_HYBRID_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_transpose_hybrid_f32, (p, input, weight, bias, scale, output, scratch),
               MG_ARGUMENTS_HYBRID(mg_conv2d_transpose_hybrid_f32))
#endif

#endif
