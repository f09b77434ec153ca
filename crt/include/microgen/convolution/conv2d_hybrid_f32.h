/* SPDX-License-Identifier: Apache-2.0 */
/* Hybrid 2-D convolution: float32 with int8 weights, computed in integers. */
#ifndef MICROGEN_CONV2D_HYBRID_F32_H
#define MICROGEN_CONV2D_HYBRID_F32_H

#include "microgen/convolution/hybrid_images.h"
#include "microgen/out_of_line.h"

typedef struct {
    mg_conv2d_shape shape;
    int32_t per_channel;  /* 1: one scale per filter, and images have a zero point; 0: neither */
    float activation_min; /* finite */
    float activation_max; /* finite, activation_min or more */
} mg_conv2d_hybrid_f32_params;

/* Convolves input [batches][input_height][input_width][input_channels], each image quantized to
 * int8, with weight [output_channels][kernel_height][kernel_width][filter_channels] into output
 * [batches][output_height][output_width][output_channels].
 *
 * bias [output_channels] may be NULL. scale contains the weight's scales: output_channels elements
 * if per_channel is 1, otherwise one. scratch must have input_height * input_width * input_channels
 * bytes. Output must not overlap the input. Sums of products must fit int32, partial sums
 * included. */
MG_EXTERN void mg_conv2d_hybrid_f32(MG_ARGUMENTS_HYBRID(mg_conv2d_hybrid_f32));

/* The sum of products of a filter and its window. */
MG_INLINE int32_t mg_conv2d_hybrid_sum(const mg_window *window, const int8_t *values,
                                       int32_t offset, const int8_t *filter)
{
    int32_t sum = 0;

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            sum = mg_dot_hybrid(
                sum, &values[row * window->next_row + run * window->next_run], offset,
                &filter[row * window->next_weight_row + run * window->next_weight_run],
                window->length);
        }
    }
    return sum;
}

/* The same for four consecutive filters of `size` weights each. */
MG_INLINE mg_sums_hybrid mg_conv2d_hybrid_sums(const mg_window *window, const int8_t *values,
                                               int32_t offset, const int8_t *filters, int32_t size)
{
    mg_sums_hybrid sums = {0, 0, 0, 0};

    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            sums = mg_dot_4_hybrid(
                sums, &values[row * window->next_row + run * window->next_run], offset,
                &filters[row * window->next_weight_row + run * window->next_weight_run], size,
                window->length);
        }
    }
    return sums;
}

/* The output of channel c. With one scale per channel LiteRT multiplies by the two scales one after
 * the other. */
MG_INLINE float mg_conv2d_hybrid_stored(const mg_finish_hybrid *f, int32_t c, float scale,
                                        int32_t sum)
{
    return (f->per_channel != 0) ? mg_biased_hybrid(f, c, (float)sum * f->scale[c] * scale)
                                 : mg_finished_hybrid(f, c, scale, sum);
}

/* Computes channels [first, last) of an output pixel; all of them are of one group. */
MG_INLINE void mg_conv2d_hybrid_channels(const mg_conv2d_shape *s, const mg_window *window,
                                         const int8_t *values, mg_hybrid meaning,
                                         const int8_t *weight, const mg_finish_hybrid *finish,
                                         int32_t first, int32_t last, float *pixel)
{
    const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;
    const int8_t *filters = &weight[window->weight];
    const int32_t whole = last - (last - first) % 4;

    for (int32_t c = first; c < whole; c += 4) {
        const mg_sums_hybrid sums =
            mg_conv2d_hybrid_sums(window, values, meaning.offset, &filters[c * size], size);
        pixel[c] = mg_conv2d_hybrid_stored(finish, c, meaning.scale, sums.a);
        pixel[c + 1] = mg_conv2d_hybrid_stored(finish, c + 1, meaning.scale, sums.b);
        pixel[c + 2] = mg_conv2d_hybrid_stored(finish, c + 2, meaning.scale, sums.c);
        pixel[c + 3] = mg_conv2d_hybrid_stored(finish, c + 3, meaning.scale, sums.d);
    }
    for (int32_t c = whole; c < last; c++) {
        const int32_t sum =
            mg_conv2d_hybrid_sum(window, values, meaning.offset, &filters[c * size]);
        pixel[c] = mg_conv2d_hybrid_stored(finish, c, meaning.scale, sum);
    }
}

/* Computes one output pixel. */
MG_INLINE void mg_conv2d_hybrid_pixel(const mg_conv2d_shape *s, const mg_window *window,
                                      const int8_t *image, mg_hybrid meaning, const int8_t *weight,
                                      const mg_finish_hybrid *finish, float *pixel)
{
    const int32_t group = mg_group_outputs(s);
    const int8_t *values = &image[window->value];

    int32_t first = 0;

    /* It tests at its end, so that nothing remains of it where one group is a constant. */
    do {
        mg_conv2d_hybrid_channels(s, window, values, meaning, weight, finish, first, first + group,
                                  pixel);
        values += s->filter_channels;
        first += group;
    } while (first < s->output_channels);
}

MG_INLINE void mg_conv2d_hybrid_f32_body(MG_ARGUMENTS_HYBRID(mg_conv2d_hybrid_f32))
{
    const mg_finish_hybrid finish = {bias, scale, p->per_channel, p->activation_min,
                                     p->activation_max};

    MG_HYBRID_IMAGES(mg_conv2d_hybrid_pixel, mg_conv2d_window_at, p->per_channel, p, input, weight,
                     &finish, output, scratch);
}

#ifdef MG_CONV2D_HYBRID_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_conv2d_hybrid_f32, (p, input, weight, bias, scale, output, scratch),
               MG_ARGUMENTS_HYBRID(mg_conv2d_hybrid_f32))
#endif

#endif
