/* SPDX-License-Identifier: Apache-2.0 */
/* Bilinear resizing of int8 images. */
#ifndef MICROGEN_RESIZE_BILINEAR_S8_H
#define MICROGEN_RESIZE_BILINEAR_S8_H

#include "microgen/detection/resize_bilinear.h"
#include "microgen/requantization/requantize.h"

typedef mg_resize_bilinear_params mg_resize_bilinear_s8_params;

/* One output element. No product exceeds 2^29. */
MG_INLINE int8_t mg_resize_bilinear_s8_stored(int32_t top, int32_t bottom, int32_t weight)
{
    const int32_t sum = top * (1024 - weight) + bottom * weight;
    return (int8_t)mg_divide_by_power_of_two(sum, 20);
}

/* Interpolates input [batches][input_height][input_width][channels] into output
 * [batches][output_height][output_width][channels], rounded to nearest, ties away from zero.
 * Output must not overlap the input. */
MG_RESIZING(mg_resize_bilinear_s8, int8_t, mg_resize_bilinear_place, mg_resize_bilinear_row,
            mg_resize_bilinear_column, mg_resize_bilinear_blend, mg_resize_bilinear_s8_stored)

#ifdef MG_RESIZE_BILINEAR_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_resize_bilinear_s8, int8_t, int8_t)
#endif

#endif
