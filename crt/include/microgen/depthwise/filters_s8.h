/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of any size that slide over a plane of microgen/depthwise/planes_s8.h. */
#ifndef MICROGEN_FILTERS_S8_H
#define MICROGEN_FILTERS_S8_H

#include <stddef.h>

#include "microgen/blocks/dsp.h"
#include "microgen/requantization/scaling_s8.h"

/* Planes and outputs: each of `lines` lines has `count` outputs. The first four are only for 3x3
 * filters. */
typedef struct {
    int32_t
        words_gap; /* bytes of a plane from the end of the last pair of a line to the next line */
    int32_t output_gap; /* the same of the outputs */
    int32_t lines_left; /* the same as lines */
    int32_t pair_step;  /* step, and in the upper half the number of pairs of a line less one */
    int32_t count;
    int32_t lines;
    int32_t line_words; /* of a plane, from one line of outputs to the next */
    int32_t row_words;  /* of a plane, from one row of taps to the next */
    int32_t step;       /* bytes from one output to the next */
    int32_t line_step;  /* bytes from one line of outputs to the next */
    int32_t output_offset;
} mg_filters_lines;

/* One output channel: its plane, its first output, and its scale. Assembly reads it, and the first
 * four of mg_filters_lines. */
typedef struct {
    const uint32_t *plane;
    int8_t *output;
    mg_channel scale;
} mg_filters_channel;

/* An output from its sum, without a clamp that is narrower than int8. */
MG_INLINE int8_t mg_filters_output(const mg_filters_lines *l, const mg_filters_channel *c,
                                   int32_t sum, int requantization)
{
    const mg_scaling scaling = {NULL, NULL, l->output_offset, INT8_MIN, INT8_MAX};
    return mg_output(&scaling, &c->scale, sum, requantization);
}

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

/* Four taps as bytes. Only the first `count` are of this row; the others become 0. */
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
 * after the filter are read. It is out of line, because operators share it. */
static __attribute__((noinline, unused)) void
mg_filters_widen(const int8_t *weight, int32_t rows, int32_t taps, int32_t words, uint32_t *pairs)
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

/* The sums of a group. */
typedef struct {
    int32_t a;
    int32_t b;
    int32_t c;
    int32_t d;
} mg_filters_sums;

/* Stores the outputs of a group. At the end of a line it may be incomplete. */
MG_INLINE void mg_filters_store(const mg_filters_lines *l, const mg_filters_channel *c,
                                const mg_filters_sums *sums, int32_t count, int8_t *to,
                                int requantization)
{
    const int32_t step = l->step;

    to[0] = mg_filters_output(l, c, sums->a, requantization);
    if (count > 1) {
        to[step] = mg_filters_output(l, c, sums->b, requantization);
    }
    if (count > 2) {
        to[2 * step] = mg_filters_output(l, c, sums->c, requantization);
    }
    if (count > 3) {
        to[3 * step] = mg_filters_output(l, c, sums->d, requantization);
    }
}

/* The products of two words of a row of taps with stride 1. x has the words of the plane. */
MG_INLINE mg_filters_sums mg_filters_taps_1(mg_filters_sums s, const uint32_t *x,
                                            const uint32_t *pairs)
{
    uint32_t word = x[0];

    s.a = mg_smlad(word, pairs[0], s.a);
    s.b = mg_smladx(word, pairs[1], s.b);
    word = x[1];
    s.c = mg_smlad(word, pairs[0], s.c);
    s.d = mg_smladx(word, pairs[1], s.d);
    s.a = mg_smlad(word, pairs[2], s.a);
    s.b = mg_smladx(word, pairs[3], s.b);
    word = x[2];
    s.c = mg_smlad(word, pairs[2], s.c);
    s.d = mg_smladx(word, pairs[3], s.d);
    return s;
}

/* The same with stride 2. */
MG_INLINE mg_filters_sums mg_filters_taps_2(mg_filters_sums s, const uint32_t *x,
                                            const uint32_t *pairs)
{
    s.a = mg_smlad(x[0], pairs[0], s.a);
    s.b = mg_smlad(x[1], pairs[0], s.b);
    s.a = mg_smlad(x[1], pairs[2], s.a);
    s.b = mg_smlad(x[2], pairs[2], s.b);
    return s;
}

/* The sums of a group that begins with plane[0]. */
MG_INLINE mg_filters_sums mg_filters_dot(const uint32_t *plane, int32_t row_words,
                                         const uint32_t *pairs, int32_t rows, int32_t words,
                                         int32_t stride)
{
    mg_filters_sums s = {0, 0, 0, 0};

    for (int32_t row = 0; row < rows; row++) {
        const uint32_t *x = plane;
        for (int32_t q = words; q > 0; q -= 2) {
            s = (stride == 1) ? mg_filters_taps_1(s, x, pairs) : mg_filters_taps_2(s, x, pairs);
            x += 2;
            pairs += 4;
        }
        plane += row_words;
    }
    return s;
}

/* Computes all lines with a filter of `rows` rows that mg_filters_widen has made. `stride` is a
 * constant. */
MG_INLINE void mg_filters_slide(const mg_filters_lines *l, const mg_filters_channel *c,
                                const uint32_t *pairs, int32_t rows, int32_t words, int32_t stride,
                                int requantization)
{
    const int32_t group = mg_filters_group(stride);
    const uint32_t *line = c->plane;
    int8_t *output = c->output;

    for (int32_t y = 0; y < l->lines; y++) {
        const uint32_t *plane = line;
        int8_t *to = output;
        for (int32_t left = l->count; left > 0; left -= group) {
            const mg_filters_sums sums =
                mg_filters_dot(plane, l->row_words, pairs, rows, words, stride);
            mg_filters_store(l, c, &sums, (left < group) ? left : group, to, requantization);
            plane += 2;
            to += group * l->step;
        }
        line += l->line_words;
        output += l->line_step;
    }
}

#endif
