/* SPDX-License-Identifier: Apache-2.0 */
/* mg_pool_mean_s8 of one window, for callers that have a few of its rows at a time, or all. */
#ifndef MICROGEN_POOL_MEAN_S8_ROWS_H
#define MICROGEN_POOL_MEAN_S8_ROWS_H

#include <stddef.h>
#include <string.h>

#include "microgen/pooling/pool_mean_s8.h"

/* The input has some rows of the window, whose pool_height is a multiple of their number. */
typedef mg_pool_mean_s8_params mg_pool_mean_s8_rows_params;

/* Adds the rows of input [1][input_height][input_width][channels] to the sums in scratch. With the
 * last rows of the window it computes what mg_pool_mean_s8 does into output [channels]. scratch is
 * aligned to 4 bytes. It has an int32 for each channel, and one for the number of rows so far.
 * Unless the input has all rows, they must be 0 at first, and nothing else may change them. Output
 * must not overlap the input. */
MG_EXTERN void mg_pool_mean_s8_rows(const mg_pool_mean_s8_rows_params *p, const int8_t *input,
                                    const int32_t *coefficient, int8_t *output, uint8_t *scratch);

/* Adds all pixels of four neighbouring channels. */
MG_INLINE void mg_pool_mean_s8_rows_four(const int8_t *tap, int32_t pixels, int32_t channels,
                                         int32_t sums[4])
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
    sums[0] = first;
    sums[1] = second;
    sums[2] = third;
    sums[3] = fourth;
}

/* The same of one channel. */
MG_INLINE void mg_pool_mean_s8_rows_one(const int8_t *tap, int32_t pixels, int32_t channels,
                                        int32_t *sum)
{
    int32_t found = *sum;

    for (int32_t i = 0; i < pixels; i++) {
        found += *tap;
        tap += channels;
    }
    *sum = found;
}

MG_INLINE void mg_pool_mean_s8_rows_body(const mg_pool_mean_s8_rows_params *p, const int8_t *input,
                                         const int32_t *coefficient, int8_t *output,
                                         uint8_t *scratch)
{
    int32_t *const sums = (int32_t *)(void *)scratch;
    int32_t *const rows = &sums[p->channels];
    const int32_t pixels = p->input_height * p->input_width;

    int32_t channel = 0;

    if (p->input_height == p->pool_height) {
        memset(scratch, 0, (size_t)(p->channels + 1) * sizeof(int32_t));
    }
    for (; channel < (p->channels & ~3); channel += 4) {
        mg_pool_mean_s8_rows_four(&input[channel], pixels, p->channels, &sums[channel]);
    }
    for (; channel < p->channels; channel++) {
        mg_pool_mean_s8_rows_one(&input[channel], pixels, p->channels, &sums[channel]);
    }
    *rows += p->input_height;
    if (*rows == p->pool_height) {
        for (int32_t c = 0; c < p->channels; c++) {
            output[c] = mg_pool_mean_s8_stored(p, coefficient, sums[c]);
        }
    }
}

#ifdef MG_POOL_MEAN_S8_ROWS_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_pool_mean_s8_rows, (p, input, coefficient, output, scratch),
               const mg_pool_mean_s8_rows_params *p, const int8_t *input,
               const int32_t *coefficient, int8_t *output, uint8_t *scratch)
#endif

#endif
