/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of any size that slide over a plane of microgen/planes_s8.h. */
#ifndef MICROGEN_FILTERS_S8_H
#define MICROGEN_FILTERS_S8_H

#include <stdint.h>

#include "microgen/dsp.h"
#include "microgen/inline.h"
#include "microgen/scaling_s8.h"

/* A plane, and the outputs of one channel, of which each of `lines` lines has `count`. */
typedef struct {
    const mg_scaling *scaling;
    const uint32_t *plane;
    int8_t *output;
    mg_channel channel;
    int32_t count;
    int32_t lines;
    int32_t line_words; /* of the plane, from one line of outputs to the next */
    int32_t row_words;  /* of the plane, from one row of taps to the next */
    int32_t step;       /* bytes from one output to the next */
    int32_t line_step;  /* bytes from one line of outputs to the next */
} mg_filters_lines;

/* The outputs that are computed at a time: they need the same words of the filter, and words of the
 * plane from every second one on. */
MG_INLINE int32_t mg_filters_group(int32_t stride)
{
    return (stride == 1) ? 4 : 2;
}

/* The number of words of a row of taps, which is even. For stride 1 there is a second filter with
 * one 0 in front, for the outputs whose first value is the second one of a word. */
MG_INLINE int32_t mg_filters_words(int32_t taps, int32_t stride)
{
    return 2 * ((taps + 5 - stride) / 4);
}

/* The words of a line of a plane that are read for `count` outputs. */
MG_INLINE int32_t mg_filters_words_read(int32_t count, int32_t taps, int32_t stride)
{
    const int32_t group = mg_filters_group(stride);
    return (count + group - 1) / group * 2 + mg_filters_words(taps, stride) - 1;
}

/* Four taps of which the first `count` are of this row, as bytes; the others become 0. */
MG_INLINE uint32_t mg_filters_taps(const int8_t *weight, int32_t count)
{
    const uint32_t bytes = mg_load_4_s8(weight);

    if (count >= 4) {
        return bytes;
    }
    return (count <= 0) ? 0 : (bytes & ((1U << (8 * count)) - 1));
}

/* Widens the taps of a filter to two words for each word of taps. The first one has taps 2q and 2q
 * + 1 in its halves. The second one has, in exchanged halves, taps 2q - 1 and 2q. Up to four bytes
 * after the filter are read. */
MG_INLINE void mg_filters_widen(const int8_t *weight, int32_t rows, int32_t taps, int32_t words,
                                uint32_t *pairs)
{
    for (int32_t row = 0; row < rows; row++) {
        uint32_t before = 0;
        for (int32_t q = 0; q < words; q += 2) {
            const uint32_t bytes = mg_filters_taps(&weight[2 * q], taps - 2 * q);
            const uint32_t even = mg_sxtb16(bytes);
            const uint32_t odd = mg_sxtb16_odd(bytes);
            const uint32_t first = mg_low_halves(even, odd);
            const uint32_t second = mg_high_halves(even, odd);
            pairs[0] = first;
            pairs[1] = mg_halves(first, before);
            pairs[2] = second;
            pairs[3] = mg_halves(second, first);
            before = second;
            pairs += 4;
        }
        weight += taps;
    }
}

/* The outputs of a group from its sums, of which there may be fewer at the end of a line. */
MG_INLINE void mg_filters_store(const mg_filters_lines *l, const int32_t *sums, int32_t count,
                                int8_t *output, int requantization)
{
    for (int32_t i = 0; i < count; i++) {
        output[0] = mg_output(l->scaling, &l->channel, sums[i], requantization);
        output += l->step;
    }
}

/* Four sums with stride 1. */
MG_INLINE void mg_filters_group_1(const uint32_t *plane, int32_t row_words, const uint32_t *pairs,
                                  int32_t rows, int32_t words, int32_t *sums)
{
    int32_t a = 0;
    int32_t b = 0;
    int32_t c = 0;
    int32_t d = 0;

    for (int32_t row = 0; row < rows; row++) {
        const uint32_t *x = plane;
        uint32_t even = x[0];
        for (int32_t q = 0; q < words; q += 2) {
            const uint32_t odd = x[1];
            a = mg_smlad(even, pairs[0], a);
            b = mg_smladx(even, pairs[1], b);
            c = mg_smlad(odd, pairs[0], c);
            d = mg_smladx(odd, pairs[1], d);
            even = x[2];
            a = mg_smlad(odd, pairs[2], a);
            b = mg_smladx(odd, pairs[3], b);
            c = mg_smlad(even, pairs[2], c);
            d = mg_smladx(even, pairs[3], d);
            x += 2;
            pairs += 4;
        }
        plane += row_words;
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
}

/* Two sums with stride 2. */
MG_INLINE void mg_filters_group_2(const uint32_t *plane, int32_t row_words, const uint32_t *pairs,
                                  int32_t rows, int32_t words, int32_t *sums)
{
    int32_t a = 0;
    int32_t b = 0;

    for (int32_t row = 0; row < rows; row++) {
        const uint32_t *x = plane;
        uint32_t even = x[0];
        for (int32_t q = 0; q < words; q += 2) {
            const uint32_t odd = x[1];
            a = mg_smlad(even, pairs[0], a);
            b = mg_smlad(odd, pairs[0], b);
            even = x[2];
            a = mg_smlad(odd, pairs[2], a);
            b = mg_smlad(even, pairs[2], b);
            x += 2;
            pairs += 4;
        }
        plane += row_words;
    }
    sums[0] = a;
    sums[1] = b;
}

/* Computes all lines with a filter of `rows` rows that mg_filters_widen has made. */
MG_INLINE void mg_filters_slide(const mg_filters_lines *l, const uint32_t *pairs, int32_t rows,
                                int32_t words, int32_t stride, int requantization)
{
    const int32_t group = mg_filters_group(stride);
    const uint32_t *line = l->plane;
    int8_t *output = l->output;

    for (int32_t y = 0; y < l->lines; y++) {
        const uint32_t *plane = line;
        int8_t *to = output;
        for (int32_t left = l->count; left > 0; left -= group) {
            int32_t sums[4];
            if (stride == 1) {
                mg_filters_group_1(plane, l->row_words, pairs, rows, words, sums);
            } else {
                mg_filters_group_2(plane, l->row_words, pairs, rows, words, sums);
            }
            mg_filters_store(l, sums, (left < group) ? left : group, to, requantization);
            plane += 2;
            to += group * l->step;
        }
        line += l->line_words;
        output += l->line_step;
    }
}

#endif
