/* SPDX-License-Identifier: Apache-2.0 */
/* Bilinear interpolation of images, int8, as LiteRT computes it for uint8: in float32. */
#ifndef MICROGEN_RESIZE_BILINEAR_S8_F32_H
#define MICROGEN_RESIZE_BILINEAR_S8_F32_H

#include "microgen/detection/resize_bilinear_f32.h"
#include "microgen/window.h"

typedef mg_resize_bilinear_f32_params mg_resize_bilinear_s8_f32_params;

/* Interpolates input [batches][input_height][input_width][channels] into output
 * [batches][output_height][output_width][channels]. Values are int8, and 128 is added to them
 * before they become floats. Results are rounded to nearest, ties upwards. The compiler must not
 * contract products and sums (-ffp-contract=off). Output must not overlap the input. */
MG_DECLARE_UNARY(mg_resize_bilinear_s8_f32, int8_t, int8_t);

/* The neighbours of a position. Before the first pixel, both are the first, and the second's weight
 * is negative. */
MG_INLINE mg_resize_bilinear_f32_place mg_resize_bilinear_s8_f32_at(float position, int32_t size)
{
    mg_resize_bilinear_f32_place place = mg_resize_bilinear_f32_at(position, size);

    if (position < 0.0F) {
        place.weight = position;
    }
    return place;
}

MG_INLINE float mg_resize_bilinear_s8_f32_value(int8_t stored)
{
    return (float)(stored + 128);
}

MG_INLINE int8_t mg_resize_bilinear_s8_f32_stored(float x)
{
    const int32_t whole = (int32_t)x;
    return (int8_t)(whole + ((x - (float)whole >= 0.5F) ? 1 : 0) - 128);
}

MG_INLINE void mg_resize_bilinear_s8_f32_row(const mg_resize_bilinear_s8_f32_params *p,
                                             const int8_t *upper, const int8_t *lower, float weight,
                                             int8_t *output)
{
    const float rest = 1.0F - weight;

    for (int32_t x = 0; x < p->output_width; x++) {
        const mg_resize_bilinear_f32_place at = mg_resize_bilinear_s8_f32_at(
            ((float)x + p->offset) * p->step_x - p->offset, p->input_width);
        const float other = 1.0F - at.weight;
        for (int32_t c = 0; c < p->channels; c++) {
            const int32_t left = at.lower * p->channels + c;
            const int32_t right = at.upper * p->channels + c;
            const float sum = mg_resize_bilinear_s8_f32_value(upper[left]) * rest * other +
                              mg_resize_bilinear_s8_f32_value(lower[left]) * weight * other +
                              mg_resize_bilinear_s8_f32_value(upper[right]) * rest * at.weight +
                              mg_resize_bilinear_s8_f32_value(lower[right]) * weight * at.weight;
            output[x * p->channels + c] = mg_resize_bilinear_s8_f32_stored(sum);
        }
    }
}

MG_INLINE void mg_resize_bilinear_s8_f32_body(const mg_resize_bilinear_s8_f32_params *p,
                                              const int8_t *input, int8_t *output)
{
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            const mg_resize_bilinear_f32_place at = mg_resize_bilinear_s8_f32_at(
                ((float)y + p->offset) * p->step_y - p->offset, p->input_height);
            mg_resize_bilinear_s8_f32_row(
                p, &input[mg_nhwc(n, at.lower, 0, p->input_height, p->input_width, p->channels)],
                &input[mg_nhwc(n, at.upper, 0, p->input_height, p->input_width, p->channels)],
                at.weight,
                &output[mg_nhwc(n, y, 0, p->output_height, p->output_width, p->channels)]);
        }
    }
}

#ifdef MG_RESIZE_BILINEAR_S8_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_resize_bilinear_s8_f32, int8_t, int8_t)
#endif

#endif
