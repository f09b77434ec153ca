/* SPDX-License-Identifier: Apache-2.0 */
/* Bilinear resizing of int16 images. */
#ifndef MICROGEN_RESIZE_BILINEAR_S16_H
#define MICROGEN_RESIZE_BILINEAR_S16_H

#include "microgen/detection/resize_bilinear.h"
#include "microgen/requantization/requantize.h"

typedef mg_resize_bilinear_params mg_resize_bilinear_s16_params;

MG_INLINE int16_t mg_resize_bilinear_s16_stored(int32_t top, int32_t bottom, int32_t weight)
{
    const int64_t sum = (int64_t)top * (1024 - weight) + (int64_t)bottom * weight;
    const int64_t half = (int64_t)1 << 19;
    return (int16_t)mg_shift_right_64(sum + half - ((sum < 0) ? 1 : 0), 20);
}

/* Interpolates input [batches][input_height][input_width][channels] into output
 * [batches][output_height][output_width][channels], rounded to nearest, ties away from zero.
 * Output must not overlap the input. */
MG_RESIZING(mg_resize_bilinear_s16, int16_t, mg_resize_bilinear_place, mg_resize_bilinear_row,
            mg_resize_bilinear_column, mg_resize_bilinear_blend, mg_resize_bilinear_s16_stored)

#ifdef MG_RESIZE_BILINEAR_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_resize_bilinear_s16, int16_t, int16_t)
#endif

#endif
