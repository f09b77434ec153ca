/* SPDX-License-Identifier: Apache-2.0 */
/* Means of int8 over one window, for callers that have a few of its rows at a time, or all.
 *
 * Sums are kept in scratch between the calls: an int16 for each channel, and one for the number of
 * rows so far. A window has at most 256 values, so no sum exceeds int16. */
#ifndef MICROGEN_POOL_MEAN_S8_ROWS_H
#define MICROGEN_POOL_MEAN_S8_ROWS_H

#include <stddef.h>
#include <string.h>

#include "microgen/pooling/pool_mean_in_float_s8.h"
#include "microgen/pooling/pool_mean_s8.h"
#include "microgen/requantization/requantize.h"

/* The input has some rows of the window, whose pool_height is a multiple of their number. */
typedef mg_pool_mean_s8_params mg_pool_mean_s8_rows_params;
typedef mg_pool_mean_in_float_s8_params mg_mean_in_float_s8_rows_params;

/* The multiplier and the shift are those of microgen/requantization/requantize.h. */
typedef mg_pool_mean_in_float_s8_params mg_mean_s8_rows_params;

/* Each adds the rows of input [1][input_height][input_width][channels] to the sums in scratch. With
 * the last rows of the window it computes the means into output [channels], and before that it does
 * not write there. scratch is aligned to 2 bytes. Unless the input has all rows, it must be 0 at
 * first, and nothing else may change it. Output must not overlap the input.
 *
 * The means are those of mg_pool_mean_s8, or sums that are requantized with double rounding, or
 * sums that are scaled by mg_requantize_float. */
MG_EXTERN void mg_pool_mean_s8_rows(const mg_pool_mean_s8_rows_params *p, const int8_t *input,
                                    const int32_t *coefficient, int8_t *output, uint8_t *scratch);
MG_EXTERN void mg_mean_s8_rows(const mg_mean_s8_rows_params *p, const int8_t *input, int8_t *output,
                               uint8_t *scratch);
MG_EXTERN void mg_mean_in_float_s8_rows(const mg_mean_in_float_s8_rows_params *p,
                                        const int8_t *input, int8_t *output, uint8_t *scratch);

/* Adds all pixels of four neighbouring channels. */
MG_INLINE void mg_pool_mean_s8_rows_four(const int8_t *tap, int32_t pixels, int32_t channels,
                                         int16_t sums[4])
{
    int32_t first = sums[0];
    int32_t second = sums[1];
    int32_t third = sums[2];
    int32_t fourth = sums[3];

    for (int32_t i = 0; i < pixels; i++) {
        first += tap[0];
        second += tap[1];
        third += tap[2];
        fourth += tap[3];
        tap += channels;
    }
    sums[0] = (int16_t)first;
    sums[1] = (int16_t)second;
    sums[2] = (int16_t)third;
    sums[3] = (int16_t)fourth;
}

/* The same of one channel. */
MG_INLINE void mg_pool_mean_s8_rows_one(const int8_t *tap, int32_t pixels, int32_t channels,
                                        int16_t *sum)
{
    int32_t found = *sum;

    for (int32_t i = 0; i < pixels; i++) {
        found += *tap;
        tap += channels;
    }
    *sum = (int16_t)found;
}

/* Adds an input of some pixels in `height` rows, and returns the number of rows so far. `is_whole`
 * is 1 if the input has all rows, so that there is nothing to add them to, otherwise 0. */
MG_INLINE int32_t mg_pool_mean_s8_rows_add(const int8_t *input, int32_t pixels, int32_t channels,
                                           int32_t height, int32_t is_whole, int16_t *sums)
{
    int32_t channel = 0;

    if (is_whole != 0) {
        memset(sums, 0, (size_t)(channels + 1) * sizeof(int16_t));
    }
    for (; channel < (channels & ~3); channel += 4) {
        mg_pool_mean_s8_rows_four(&input[channel], pixels, channels, &sums[channel]);
    }
    for (; channel < channels; channel++) {
        mg_pool_mean_s8_rows_one(&input[channel], pixels, channels, &sums[channel]);
    }
    sums[channels] = (int16_t)(sums[channels] + height);
    return sums[channels];
}

/* Adds the input to the sums, and stores the means, which are `mean(sum)`, with the last rows.
 *
 * This is a macro so that the mean is inlined at every optimisation level. */
#define MG_MEAN_S8_ROWS(mean, p, input, output, scratch)                                           \
    do {                                                                                           \
        int16_t *const sums_ = (int16_t *)(void *)(scratch);                                       \
        const int32_t rows_ = mg_pool_mean_s8_rows_add(                                            \
            (input), (p)->input_height * (p)->input_width, (p)->channels, (p)->input_height,       \
            ((p)->input_height == (p)->pool_height) ? 1 : 0, sums_);                               \
                                                                                                   \
        if (rows_ == (p)->pool_height) {                                                           \
            for (int32_t c_ = 0; c_ < (p)->channels; c_++) {                                       \
                (output)[c_] = mean(sums_[c_]);                                                    \
            }                                                                                      \
        }                                                                                          \
    } while (0)

MG_INLINE void mg_pool_mean_s8_rows_body(const mg_pool_mean_s8_rows_params *p, const int8_t *input,
                                         const int32_t *coefficient, int8_t *output,
                                         uint8_t *scratch)
{
#define MG_STORED(sum) mg_pool_mean_s8_stored(p, coefficient, (sum))
    MG_MEAN_S8_ROWS(MG_STORED, p, input, output, scratch);
#undef MG_STORED
}

MG_INLINE void mg_mean_s8_rows_body(const mg_mean_s8_rows_params *p, const int8_t *input,
                                    int8_t *output, uint8_t *scratch)
{
#define MG_STORED(sum)                                                                             \
    mg_offset_and_clamp(mg_requantize((sum) + p->bias, p->multiplier, p->shift), p->output_offset, \
                        p->activation_min, p->activation_max)
    MG_MEAN_S8_ROWS(MG_STORED, p, input, output, scratch);
#undef MG_STORED
}

MG_INLINE void mg_mean_in_float_s8_rows_body(const mg_mean_in_float_s8_rows_params *p,
                                             const int8_t *input, int8_t *output, uint8_t *scratch)
{
#define MG_STORED(sum) mg_pool_mean_in_float_s8_stored(p, (sum))
    MG_MEAN_S8_ROWS(MG_STORED, p, input, output, scratch);
#undef MG_STORED
}

#ifdef MG_POOL_MEAN_S8_ROWS_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_pool_mean_s8_rows, (p, input, coefficient, output, scratch),
               const mg_pool_mean_s8_rows_params *p, const int8_t *input,
               const int32_t *coefficient, int8_t *output, uint8_t *scratch)
MG_OUT_OF_LINE(mg_mean_s8_rows, (p, input, output, scratch), const mg_mean_s8_rows_params *p,
               const int8_t *input, int8_t *output, uint8_t *scratch)
MG_OUT_OF_LINE(mg_mean_in_float_s8_rows, (p, input, output, scratch),
               const mg_mean_in_float_s8_rows_params *p, const int8_t *input, int8_t *output,
               uint8_t *scratch)
#endif

#endif
