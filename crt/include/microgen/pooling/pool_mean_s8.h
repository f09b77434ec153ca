/* SPDX-License-Identifier: Apache-2.0 */
/* Means of int8 over 2-D windows, without division: average pooling, and means over height and
 * width.
 *
 * out = clamp((sum * A + C) >> shift). Both numbers are found when the project is generated
 * (microgen/graph/arithmetic/affine.py), and they are used only if every sum that a window can have
 * gives exactly what the operator's reference gives. Windows have at most 256 values, so sums fit
 * int16. */
#ifndef MICROGEN_POOL_MEAN_S8_H
#define MICROGEN_POOL_MEAN_S8_H

#include "microgen/arithmetic/saturate.h"
#include "microgen/requantization/requantize.h"
#include "microgen/window.h"

/* All windows are inside the input. */
typedef struct {
    MG_IMAGE_SIZES(channels)
    int32_t pool_height;
    int32_t pool_width; /* pool_height * pool_width is 1 to 256 */
    int32_t stride_height;
    int32_t stride_width;
    int32_t shift;          /* 0 to 30 */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* the same; activation_min or more */
} mg_pool_mean_s8_params;

/* Computes the mean of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. coefficient is A and C, with which no
 * sum exceeds int32. Output must not overlap the input. */
MG_EXTERN void mg_pool_mean_s8(const mg_pool_mean_s8_params *p, const int8_t *input,
                               const int32_t *coefficient, int8_t *output);

/* The stored mean of a window with that sum. */
MG_INLINE int8_t mg_pool_mean_s8_stored(const mg_pool_mean_s8_params *p,
                                        const int32_t coefficient[2], int32_t sum)
{
    const int32_t scaled = sum * coefficient[0] + coefficient[1];
    return mg_clamp_s8(mg_shift_right(scaled, p->shift), p->activation_min, p->activation_max);
}

/* The mean of one channel, whose first value is at `window`. */
MG_INLINE int8_t mg_pool_mean_s8_channel(const mg_pool_mean_s8_params *p, const int8_t *window,
                                         const int32_t coefficient[2])
{
    int32_t sum = 0;

    for (int32_t y = 0; y < p->pool_height; y++) {
        const int8_t *tap = &window[y * p->input_width * p->channels];
        for (int32_t x = 0; x < p->pool_width; x++) {
            sum += *tap;
            tap += p->channels;
        }
    }
    return mg_pool_mean_s8_stored(p, coefficient, sum);
}

/* The means of four neighbouring channels. */
MG_INLINE void mg_pool_mean_s8_four(const mg_pool_mean_s8_params *p, const int8_t *window,
                                    const int32_t coefficient[2], int8_t *output)
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
    output[0] = mg_pool_mean_s8_stored(p, coefficient, first);
    output[1] = mg_pool_mean_s8_stored(p, coefficient, second);
    output[2] = mg_pool_mean_s8_stored(p, coefficient, third);
    output[3] = mg_pool_mean_s8_stored(p, coefficient, fourth);
}

/* Calls pixel(p, window, coefficient, output) for each pixel of the output; `window` is the first
 * value of its window. This is a macro so that `pixel` is inlined at every optimisation level. */
#define MG_POOL_MEAN_S8(pixel, p, input, coefficient, output)                                      \
    do {                                                                                           \
        int8_t *to_ = (output);                                                                    \
        for (int32_t n_ = 0; n_ < (p)->batches; n_++) {                                            \
            for (int32_t y_ = 0; y_ < (p)->output_height; y_++) {                                  \
                const int32_t row_ = n_ * (p)->input_height + y_ * (p)->stride_height;             \
                const int8_t *window_ = &(input)[row_ * (p)->input_width * (p)->channels];         \
                for (int32_t x_ = 0; x_ < (p)->output_width; x_++) {                               \
                    pixel((p), window_, (coefficient), to_);                                       \
                    window_ += (p)->stride_width * (p)->channels;                                  \
                    to_ += (p)->channels;                                                          \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

MG_INLINE void mg_pool_mean_s8_pixel(const mg_pool_mean_s8_params *p, const int8_t *window,
                                     const int32_t coefficient[2], int8_t *output)
{
    int32_t c = 0;

    for (; c < (p->channels & ~3); c += 4) {
        mg_pool_mean_s8_four(p, &window[c], coefficient, &output[c]);
    }
    for (; c < p->channels; c++) {
        output[c] = mg_pool_mean_s8_channel(p, &window[c], coefficient);
    }
}

MG_INLINE void mg_pool_mean_s8_body(const mg_pool_mean_s8_params *p, const int8_t *input,
                                    const int32_t *coefficient, int8_t *output)
{
    MG_POOL_MEAN_S8(mg_pool_mean_s8_pixel, p, input, coefficient, output);
}

#ifdef MG_POOL_MEAN_S8_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_pool_mean_s8, (p, input, coefficient, output), const mg_pool_mean_s8_params *p,
               const int8_t *input, const int32_t *coefficient, int8_t *output)
#endif

#endif
