/* SPDX-License-Identifier: Apache-2.0 */
/* 3x3 filters that slide over a plane of microgen/planes_s8.h, with all taps in registers. */
#ifndef MICROGEN_FILTERS_3X3_S8_H
#define MICROGEN_FILTERS_3X3_S8_H

#include <stdint.h>

#include "microgen/dsp.h"
#include "microgen/filters_s8.h"
#include "microgen/inline.h"
#include "microgen/scaling_s8.h"

/* The lines of a plane have a constant pitch, because then the places of three values in three lines
 * need one register. A band is as many outputs as such a line has windows, with stride 1 and 2. */
enum {
    MG_3X3_TAPS = 9,
    MG_3X3_PITCH = 14, /* words */
    MG_3X3_BAND = 2 * (MG_3X3_PITCH - 1),
    MG_3X3_2_PITCH = 9,
    MG_3X3_2_BAND = MG_3X3_2_PITCH - 1
};

/* The taps t0, t1 and t2 of each row: `first` has t0 in the low half and t1 in the high one. The low
 * half of `second` is t2, its high half t1. */
typedef struct {
    uint32_t first[3];
    uint32_t second[3];
} mg_filters_3x3_taps;

/* Widens the taps of a filter, whose rows are in the order t0, t2, t1. Reads one byte after it. */
MG_INLINE mg_filters_3x3_taps mg_filters_3x3_widen(const int8_t *weight)
{
    mg_filters_3x3_taps t;

    for (int32_t row = 0; row < 3; row++) {
        const uint32_t bytes = mg_load_4_s8(&weight[3 * row]);
        t.first[row] = mg_sxtb16(bytes);
        t.second[row] = mg_halves(mg_sxtb16_odd(bytes), t.first[row]);
    }
    return t;
}

/* The sum of the window whose first row begins with the words x[0] and x[1]. */
MG_INLINE int32_t mg_filters_3x3_sum(const uint32_t *x, int32_t pitch, const mg_filters_3x3_taps *t)
{
    int32_t sum = 0;

    for (int32_t row = 0; row < 3; row++) {
        sum = mg_smlad(x[0], t->first[row], sum);
        sum = mg_smlabb(x[1], t->second[row], sum);
        x += 4 * pitch;
    }
    return sum;
}

/* The same for the window that begins one value later. */
MG_INLINE int32_t mg_filters_3x3_next(const uint32_t *x, int32_t pitch,
                                      const mg_filters_3x3_taps *t)
{
    int32_t sum = 0;

    for (int32_t row = 0; row < 3; row++) {
        sum = mg_smlatb(x[0], t->first[row], sum);
        sum = mg_smladx(x[1], t->second[row], sum);
        x += 4 * pitch;
    }
    return sum;
}

/* `pairs` times two outputs with stride 1. Returns the place of the next one. */
MG_INLINE int8_t *mg_filters_3x3_pairs(const mg_filters_lines *l, const mg_filters_3x3_taps *t,
                                       const uint32_t *x, int8_t *output, int32_t pairs,
                                       int requantization)
{
    for (int32_t i = 0; i < pairs; i++) {
        const int32_t a = mg_filters_3x3_sum(x, MG_3X3_PITCH, t);
        const int32_t b = mg_filters_3x3_next(x, MG_3X3_PITCH, t);
        output[0] = mg_output(l->scaling, &l->channel, a, requantization);
        output[l->step] = mg_output(l->scaling, &l->channel, b, requantization);
        output += 2 * l->step;
        x++;
    }
    return output;
}

/* The same with stride 2. */
MG_INLINE int8_t *mg_filters_3x3_2_pairs(const mg_filters_lines *l, const mg_filters_3x3_taps *t,
                                         const uint32_t *x, int8_t *output, int32_t pairs,
                                         int requantization)
{
    for (int32_t i = 0; i < pairs; i++) {
        const int32_t a = mg_filters_3x3_sum(x, MG_3X3_2_PITCH, t);
        const int32_t b = mg_filters_3x3_sum(x + 1, MG_3X3_2_PITCH, t);
        output[0] = mg_output(l->scaling, &l->channel, a, requantization);
        output[l->step] = mg_output(l->scaling, &l->channel, b, requantization);
        output += 2 * l->step;
        x += 2;
    }
    return output;
}

/* Computes all lines. weight are the nine taps of the channel. */
MG_INLINE void mg_filters_3x3(const mg_filters_lines *l, const int8_t *weight, int requantization)
{
    const mg_filters_3x3_taps t = mg_filters_3x3_widen(weight);
    const int32_t pairs = l->count / 2;
    const uint32_t *line = l->plane;
    int8_t *output = l->output;

    for (int32_t y = 0; y < l->lines; y++) {
        int8_t *end = mg_filters_3x3_pairs(l, &t, line, output, pairs, requantization);
        if (l->count % 2 != 0) {
            const int32_t sum = mg_filters_3x3_sum(line + pairs, MG_3X3_PITCH, &t);
            *end = mg_output(l->scaling, &l->channel, sum, requantization);
        }
        line += l->line_words;
        output += l->line_step;
    }
}

/* The same with stride 2. */
MG_INLINE void mg_filters_3x3_2(const mg_filters_lines *l, const int8_t *weight, int requantization)
{
    const mg_filters_3x3_taps t = mg_filters_3x3_widen(weight);
    const int32_t pairs = l->count / 2;
    const uint32_t *line = l->plane;
    int8_t *output = l->output;

    for (int32_t y = 0; y < l->lines; y++) {
        int8_t *end = mg_filters_3x3_2_pairs(l, &t, line, output, pairs, requantization);
        if (l->count % 2 != 0) {
            const int32_t sum = mg_filters_3x3_sum(line + 2 * pairs, MG_3X3_2_PITCH, &t);
            *end = mg_output(l->scaling, &l->channel, sum, requantization);
        }
        line += l->line_words;
        output += l->line_step;
    }
}

#endif
