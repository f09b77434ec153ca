/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling of float32 images in any layout. */
#ifndef MICROGEN_POOL2D_STRIDED_F32_H
#define MICROGEN_POOL2D_STRIDED_F32_H

#include <float.h>

#include "microgen/arithmetic/float_math.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/pooling/strided_images.h"

typedef struct {
    mg_conv2d_shape shape; /* the kernel is the pool; filter_channels is ignored */
    mg_image_steps input;
    mg_image_steps output;
    int32_t is_maximum;       /* 1: the maximum; 0: the mean */
    int32_t includes_padding; /* 1: a mean includes padding, as zeros; 0: it ignores it */
} mg_pool2d_strided_f32_params;

/* The maximum or the sum of a window. Its tap (0, 0) is at (top, left) of the image. NaN is ignored
 * for the maximum, which is the least finite value if the window has no other values. */
MG_INLINE float mg_pool2d_strided_f32_taken(const mg_pool2d_strided_f32_params *p,
                                            const float *image, int32_t top, int32_t left,
                                            mg_taps rows, mg_taps columns)
{
    float largest = -FLT_MAX;
    mg_running_sum sum = {0.0F, 0.0F};

    for (int32_t y = rows.begin; y < rows.end; y++) {
        for (int32_t x = columns.begin; x < columns.end; x++) {
            const float value = image[(top + y * p->shape.dilation_height) * p->input.row +
                                      (left + x * p->shape.dilation_width) * p->input.column];
            if (p->is_maximum) {
                largest = (value > largest) ? value : largest;
            } else {
                sum = mg_running_sum_plus(sum, value);
            }
        }
    }
    return p->is_maximum ? largest : mg_running_sum_total(sum);
}

/* The divisor of a mean: the size of the kernel if the mean includes padding, otherwise the number
 * of values inside the input, or 1 if there are none. */
MG_INLINE float mg_pool2d_strided_f32_count(const mg_pool2d_strided_f32_params *p, mg_taps rows,
                                            mg_taps columns)
{
    if (p->includes_padding) {
        return (float)p->shape.kernel_height * (float)p->shape.kernel_width;
    }
    if (rows.begin >= rows.end || columns.begin >= columns.end) {
        return 1.0F;
    }
    return (float)(rows.end - rows.begin) * (float)(columns.end - columns.begin);
}

MG_INLINE float mg_pool2d_strided_f32_at(const mg_pool2d_strided_f32_params *p, const float *image,
                                         int32_t y, int32_t x)
{
    const mg_conv2d_shape *s = &p->shape;
    const int32_t top = y * s->stride_height - s->pad_top;
    const int32_t left = x * s->stride_width - s->pad_left;
    MG_TAPS_OF(s, top, left);
    const float taken = mg_pool2d_strided_f32_taken(p, image, top, left, rows, columns);

    return p->is_maximum ? taken : taken / mg_pool2d_strided_f32_count(p, rows, columns);
}

/* Computes the maximum or the mean of each window of input into output. Output must not overlap the
 * input. */
MG_INLINE void mg_pool2d_strided_f32_body(const mg_pool2d_strided_f32_params *p, const float *input,
                                          float *output)
{
    const mg_conv2d_shape *s = &p->shape;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t c = 0; c < s->output_channels; c++) {
            const float *image = &input[n * p->input.batch + c * p->input.channel];
            float *result = &output[n * p->output.batch + c * p->output.channel];
            for (int32_t y = 0; y < s->output_height; y++) {
                for (int32_t x = 0; x < s->output_width; x++) {
                    result[y * p->output.row + x * p->output.column] =
                        mg_pool2d_strided_f32_at(p, image, y, x);
                }
            }
        }
    }
}

#endif
