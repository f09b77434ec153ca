/* SPDX-License-Identifier: Apache-2.0 */
/* Means of int8 over 2-D windows, scaled in float32, as ONNX specifies them: pools, and means over
 * height and width. All windows are inside the input, so that one scale is for all sums. */
#ifndef MICROGEN_POOL_MEAN_IN_FLOAT_S8_H
#define MICROGEN_POOL_MEAN_IN_FLOAT_S8_H

#include <stddef.h>

#include "microgen/pooling/pool_mean_s8.h"
#include "microgen/requantization/requantize.h"
#include "microgen/requantization/requantize_float.h"
#include "microgen/window.h"

typedef struct {
    MG_IMAGE_SIZES(channels)
    int32_t pool_height;
    int32_t pool_width;
    int32_t stride_height;
    int32_t stride_width;
    int32_t bias; /* minus the input's zero point times the number of values summed */
    int32_t
        multiplier; /* of the scale of sums, as microgen/requantization/requantize_float.h says */
    int32_t shift;  /* the same */
    int32_t output_offset;  /* the output's zero point: -128 to 127 */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* the same; activation_min or more */
} mg_pool_mean_in_float_s8_params;

/* Computes the mean of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Sums are scaled by mg_requantize_float;
 * they fit int32, bias included. Output must not overlap the input. */
MG_DECLARE_UNARY(mg_pool_mean_in_float_s8, int8_t, int8_t);

/* The stored mean of a window with that sum. */
MG_INLINE int8_t mg_pool_mean_in_float_s8_stored(const mg_pool_mean_in_float_s8_params *p,
                                                 int32_t sum)
{
    return mg_offset_and_clamp(mg_requantize_float(sum + p->bias, p->multiplier, p->shift),
                               p->output_offset, p->activation_min, p->activation_max);
}

/* The mean of one channel, whose first value is at `window`. */
MG_INLINE int8_t mg_pool_mean_in_float_s8_channel(const mg_pool_mean_in_float_s8_params *p,
                                                  const int8_t *window)
{
    int32_t sum = 0;

    for (int32_t y = 0; y < p->pool_height; y++) {
        const int8_t *tap = &window[y * p->input_width * p->channels];
        for (int32_t x = 0; x < p->pool_width; x++) {
            sum += *tap;
            tap += p->channels;
        }
    }
    return mg_pool_mean_in_float_s8_stored(p, sum);
}

/* The means of four neighbouring channels. */
MG_INLINE void mg_pool_mean_in_float_s8_four(const mg_pool_mean_in_float_s8_params *p,
                                             const int8_t *window, int8_t *output)
{
    int32_t first = 0;
    int32_t second = 0;
    int32_t third = 0;
    int32_t fourth = 0;

    for (int32_t y = 0; y < p->pool_height; y++) {
        const int8_t *tap = &window[y * p->input_width * p->channels];
        for (int32_t x = 0; x < p->pool_width; x++) {
            first += tap[0];
            second += tap[1];
            third += tap[2];
            fourth += tap[3];
            tap += p->channels;
        }
    }
    const int32_t sums[4] = {first, second, third, fourth};
    for (int32_t k = 0; k < 4; k++) {
        output[k] = mg_pool_mean_in_float_s8_stored(p, sums[k]);
    }
}

/* For MG_POOL_MEAN_S8, which has no numbers to give. */
MG_INLINE void mg_pool_mean_in_float_s8_pixel(const mg_pool_mean_in_float_s8_params *p,
                                              const int8_t *window, const int32_t *none,
                                              int8_t *output)
{
    int32_t c = 0;

    (void)none;
    for (; c < (p->channels & ~3); c += 4) {
        mg_pool_mean_in_float_s8_four(p, &window[c], &output[c]);
    }
    for (; c < p->channels; c++) {
        output[c] = mg_pool_mean_in_float_s8_channel(p, &window[c]);
    }
}

MG_INLINE void mg_pool_mean_in_float_s8_body(const mg_pool_mean_in_float_s8_params *p,
                                             const int8_t *input, int8_t *output)
{
    MG_POOL_MEAN_S8(mg_pool_mean_in_float_s8_pixel, p, input, NULL, output);
}

#ifdef MG_POOL_MEAN_IN_FLOAT_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_pool_mean_in_float_s8, int8_t, int8_t)
#endif

#endif
