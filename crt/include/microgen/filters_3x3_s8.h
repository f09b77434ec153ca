/* SPDX-License-Identifier: Apache-2.0 */
/* 3x3 filters that slide over a plane of microgen/planes_s8.h, with all taps in registers. */
#ifndef MICROGEN_FILTERS_3X3_S8_H
#define MICROGEN_FILTERS_3X3_S8_H

#include <stdint.h>

#include "microgen/dsp.h"
#include "microgen/filters_s8.h"
#include "microgen/inline.h"
#include "microgen/scaling_s8.h"

/* The lines of a plane have a constant pitch, because then the places of three values in three
 * lines need one register. A band is as many outputs as such a line has windows, with stride 1
 * and 2. */
enum {
    MG_3X3_TAPS = 9,
    MG_3X3_PITCH = 14, /* words */
    MG_3X3_BAND = 2 * (MG_3X3_PITCH - 1),
    MG_3X3_2_PITCH = 9,
    MG_3X3_2_BAND = MG_3X3_2_PITCH - 1
};

/* The taps t0, t1 and t2 of each row: `first` has t0 in the low half and t1 in the high one. The
 * low half of `second` is t2, its high half t1. */
typedef struct {
    uint32_t first[3];
    uint32_t second[3];
} mg_filters_3x3_taps;

/* Widens the taps of a filter, whose rows are in the order t0, t2, t1. Reads one byte after it. */
MG_INLINE mg_filters_3x3_taps mg_filters_3x3_widen(const int8_t *weight)
{
    const uint32_t row_0 = mg_load_4_s8(weight);
    const uint32_t row_1 = mg_load_4_s8(weight + 3);
    const uint32_t row_2 = mg_load_4_s8(weight + 6);
    mg_filters_3x3_taps t = {{mg_sxtb16(row_0), mg_sxtb16(row_1), mg_sxtb16(row_2)}, {0, 0, 0}};

    t.second[0] = mg_halves(mg_sxtb16_odd(row_0), t.first[0]);
    t.second[1] = mg_halves(mg_sxtb16_odd(row_1), t.first[1]);
    t.second[2] = mg_halves(mg_sxtb16_odd(row_2), t.first[2]);
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

/* All pairs of outputs, whose second one is stride values later. */
MG_INLINE void mg_filters_3x3_pairs(const mg_filters_lines *l, const mg_filters_3x3_taps *t,
                                    int32_t stride, int requantization)
{
    const int32_t pitch = (stride == 1) ? MG_3X3_PITCH : MG_3X3_2_PITCH;
    const uint32_t *line = l->plane;
    int8_t *output = l->output;

    for (int32_t y = 0; y < l->lines; y++) {
        const uint32_t *x = line;
        int8_t *to = output;
        for (int32_t i = 0; i + 1 < l->count; i += 2) {
            const int32_t a = mg_filters_3x3_sum(x, pitch, t);
            const int32_t b = (stride == 1) ? mg_filters_3x3_next(x, pitch, t)
                                            : mg_filters_3x3_sum(x + 1, pitch, t);
            to[0] = mg_output(l->scaling, &l->channel, a, requantization);
            to[l->step] = mg_output(l->scaling, &l->channel, b, requantization);
            to += 2 * l->step;
            x += stride;
        }
        line += l->line_words;
        output += l->line_step;
    }
}

/* The same with the linear requantization is in assembly, because it needs all registers: six for
 * the taps, four for two sums and two words, and four for the multiplier, both places, and the
 * number of pairs together with the step of the output. From C, compilers move six or more of them
 * to the stack. */
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && !defined(__clang__)

/* Requantizes a sum and stores it. The constant is that of mg_linear. */
#define MG_3X3_STORE(sum)                                                                          \
    "ldrd %[x], %[y], %[constant]\n"                                                               \
    "smlal %[x], %[y], %[" sum "], %[multiplier]\n"                                                \
    "ssat %[y], #8, %[y], asr #2\n"                                                                \
    "strb %[y], [%[output]]\n"                                                                     \
    "uxtah %[output], %[output], %[step]\n"

/* The products of a row and one sum: of the words x and y; of those after them by one value. */
#define MG_3X3_SUM(sum, x, y, row)                                                                 \
    "smlad %[" sum "], %[" x "], %[f" row "], %[" sum "]\n"                                        \
    "smlabb %[" sum "], %[" y "], %[s" row "], %[" sum "]\n"
#define MG_3X3_NEXT(row)                                                                           \
    "smlatb %[b], %[x], %[f" row "], %[b]\n"                                                       \
    "smladx %[b], %[y], %[s" row "], %[b]\n"

/* Stride 1. Row 1 is the first one. Row 0 is the last one and moves to the next words. */
#define MG_3X3_PAIR                                                                                \
    "ldrd %[x], %[y], [%[words], %[row]]\n"                                                        \
    "smuad %[a], %[x], %[f1]\n"                                                                    \
    "smlabb %[a], %[y], %[s1], %[a]\n"                                                             \
    "smultb %[b], %[x], %[f1]\n"                                                                   \
    "smladx %[b], %[y], %[s1], %[b]\n"                                                             \
    "ldrd %[x], %[y], [%[words], %[next_row]]\n" MG_3X3_SUM("a", "x", "y", "2")                    \
        MG_3X3_NEXT("2") "ldrd %[x], %[y], [%[words]], #4\n" MG_3X3_SUM("a", "x", "y", "0")        \
            MG_3X3_NEXT("0")

/* Stride 2. The third word of a row takes the place of the first one. */
#define MG_3X3_2_PAIR                                                                                              \
    "ldrd %[x], %[y], [%[words], %[row]]\n"                                                                        \
    "smuad %[a], %[x], %[f1]\n"                                                                                    \
    "smlabb %[a], %[y], %[s1], %[a]\n"                                                                             \
    "ldr %[x], [%[words], %[row] + 8]\n"                                                                           \
    "smuad %[b], %[y], %[f1]\n"                                                                                    \
    "smlabb %[b], %[x], %[s1], %[b]\n"                                                                             \
    "ldrd %[x], %[y], [%[words], %[next_row]]\n" MG_3X3_SUM(                                                       \
        "a", "x", "y",                                                                                             \
        "2") "ldr %[x], [%[words], %[next_row] + 8]\n" MG_3X3_SUM("b", "y", "x",                                   \
                                                                  "2") "ldrd %[x], %[y], "                         \
                                                                       "[%[words]], "                              \
                                                                       "#8\n" MG_3X3_SUM("a", "x",                 \
                                                                                         "y",                      \
                                                                                         "0") "ld"                 \
                                                                                              "r "                 \
                                                                                              "%["                 \
                                                                                              "x]"                 \
                                                                                              ", "                 \
                                                                                              "[%"                 \
                                                                                              "[w"                 \
                                                                                              "or"                 \
                                                                                              "ds"                 \
                                                                                              "]]"                 \
                                                                                              "\n" MG_3X3_SUM("b", \
                                                                                                              "y", \
                                                                                                              "x", \
                                                                                                              "0")

/* A loop over the lines and one over the pairs of a line. Variables of the outer one are in
 * memory. */
#define MG_3X3_LINES(pair, pitch)                                                                  \
    __asm__ volatile(                                                                              \
        "1:\n" pair MG_3X3_STORE("a") MG_3X3_STORE("b") "subs %[step], %[step], #65536\n"          \
                                                        "bpl 1b\n"                                 \
                                                        "ldrd %[x], %[y], %[gaps]\n"               \
                                                        "add %[words], %[words], %[x]\n"           \
                                                        "add %[output], %[output], %[y]\n"         \
                                                        "ldrd %[x], %[step], %[counts]\n"          \
                                                        "subs %[x], %[x], #1\n"                    \
                                                        "str %[x], %[counts]\n"                    \
                                                        "bne 1b\n"                                 \
        : [a] "=&r"(a), [b] "=&r"(b), [x] "=&r"(x), [y] "=&r"(y), [words] "+r"(words),             \
          [output] "+r"(output), [step] "+r"(step), [counts] "+m"(counts)                          \
        : [f0] "r"(t->first[0]), [f1] "r"(t->first[1]), [f2] "r"(t->first[2]),                     \
          [s0] "r"(t->second[0]), [s1] "r"(t->second[1]), [s2] "r"(t->second[2]),                  \
          [multiplier] "r"(l->channel.multiplier), [constant] "m"(constant), [gaps] "m"(gaps),     \
          [row] "i"(16 * (pitch)), [next_row] "i"(32 * (pitch))                                    \
        : "memory", "cc")

MG_INLINE void mg_filters_3x3_linear(const mg_filters_lines *l, const mg_filters_3x3_taps *t,
                                     int32_t stride)
{
    const int64_t constant = (int64_t)l->channel.bias * (1 << MG_LINEAR_OFFSET_SHIFT);
    const int32_t pairs = l->count / 2;
    const int32_t gaps[2] = {4 * (l->line_words - stride * pairs), /* bytes to the next line */
                             l->line_step - 2 * pairs * l->step};
    int32_t step = l->step + 65536 * (pairs - 1);
    int32_t counts[2] = {l->lines, step};
    const uint32_t *words = l->plane;
    int8_t *output = l->output;
    uint32_t x;
    uint32_t y;
    int32_t a;
    int32_t b;

    if (pairs == 0) {
        return;
    }
    if (stride == 1) {
        MG_3X3_LINES(MG_3X3_PAIR, MG_3X3_PITCH);
    } else {
        MG_3X3_LINES(MG_3X3_2_PAIR, MG_3X3_2_PITCH);
    }
}

#else

MG_INLINE void mg_filters_3x3_linear(const mg_filters_lines *l, const mg_filters_3x3_taps *t,
                                     int32_t stride)
{
    mg_filters_3x3_pairs(l, t, stride, MG_LINEAR);
}

#endif

/* The last output of each line, if their number is odd. */
MG_INLINE void mg_filters_3x3_last(const mg_filters_lines *l, const mg_filters_3x3_taps *t,
                                   int32_t stride, int requantization)
{
    const int32_t pitch = (stride == 1) ? MG_3X3_PITCH : MG_3X3_2_PITCH;
    const uint32_t *x = l->plane + l->count / 2 * stride;
    int8_t *output = l->output + (l->count - 1) * l->step;

    for (int32_t y = 0; y < l->lines; y++) {
        const int32_t sum = mg_filters_3x3_sum(x, pitch, t);
        *output = mg_output(l->scaling, &l->channel, sum, requantization);
        x += l->line_words;
        output += l->line_step;
    }
}

/* Computes all lines, with stride 1 or 2. weight are the nine taps of the channel. */
MG_INLINE void mg_filters_3x3(const mg_filters_lines *l, const int8_t *weight, int32_t stride,
                              int requantization)
{
    const mg_filters_3x3_taps t = mg_filters_3x3_widen(weight);

    if (requantization == MG_LINEAR) {
        mg_filters_3x3_linear(l, &t, stride);
    } else {
        mg_filters_3x3_pairs(l, &t, stride, requantization);
    }
    if (l->count % 2 != 0) {
        mg_filters_3x3_last(l, &t, stride, requantization);
    }
}

#endif
