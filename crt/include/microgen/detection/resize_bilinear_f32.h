/* SPDX-License-Identifier: Apache-2.0 */
/* Bilinear resizing of float32 images. */
#ifndef MICROGEN_RESIZE_BILINEAR_F32_H
#define MICROGEN_RESIZE_BILINEAR_F32_H

#include "microgen/detection/resize_bilinear.h"
#include "microgen/window.h"

typedef struct {
    MG_IMAGE_SIZES(channels)
    /* Output row y is at row (y + offset) * step_y - offset of the input, which must be less than
     * input_height. The same applies to columns. */
    float step_y;
    float step_x;
    float offset; /* position of a pixel's centre inside it: 0 or 0.5 */
} mg_resize_bilinear_f32_params;

/* The two neighbours of a position, and the second's weight. */
typedef struct {
    int32_t lower;
    int32_t upper;
    float weight;
} mg_resize_bilinear_f32_place;

MG_INLINE mg_resize_bilinear_f32_place mg_resize_bilinear_f32_at(float position, int32_t size)
{
    const float inside = (position > 0.0F) ? position : 0.0F;
    const int32_t lower = (int32_t)inside;
    const float weight = inside - (float)lower;
    const int32_t upper = (weight > 0.0F) ? lower + 1 : lower;
    const mg_resize_bilinear_f32_place place = {lower, (upper < size) ? upper : size - 1, weight};
    return place;
}

MG_INLINE mg_resize_bilinear_f32_place
mg_resize_bilinear_f32_row(const mg_resize_bilinear_f32_params *p, int32_t y)
{
    return mg_resize_bilinear_f32_at(((float)y + p->offset) * p->step_y - p->offset,
                                     p->input_height);
}

MG_INLINE mg_resize_bilinear_f32_place
mg_resize_bilinear_f32_column(const mg_resize_bilinear_f32_params *p, int32_t x)
{
    return mg_resize_bilinear_f32_at(((float)x + p->offset) * p->step_x - p->offset,
                                     p->input_width);
}

MG_INLINE float mg_resize_bilinear_f32_blend(float first, float second, float weight)
{
    return first * (1.0F - weight) + second * weight;
}

/* Interpolates input [batches][input_height][input_width][channels] into output
 * [batches][output_height][output_width][channels]. Output must not overlap the input. */
MG_RESIZING(mg_resize_bilinear_f32, float, mg_resize_bilinear_f32_place, mg_resize_bilinear_f32_row,
            mg_resize_bilinear_f32_column, mg_resize_bilinear_f32_blend,
            mg_resize_bilinear_f32_blend)

#ifdef MG_RESIZE_BILINEAR_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_resize_bilinear_f32, float, float)
#endif

#endif
