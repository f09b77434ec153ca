/* SPDX-License-Identifier: Apache-2.0 */
/* 3x3 filters of four channels over columns of three int8 values, for cores with the DSP extension.
 *
 * A column has two words for each of the channels. The halves of the first word are the values of
 * the first two rows. The second word has the values of the third row of two channels: those of
 * channels 0 and 2 share one, and those of channels 1 and 3. Its low half is that of channels 0 and
 * 1. So a filter's taps for it are a word, too, in which the other half is 0. */
#ifndef MICROGEN_FILTERS_COLUMNS_S8_H
#define MICROGEN_FILTERS_COLUMNS_S8_H

#include <stddef.h>
#include <stdint.h>

#include "microgen/dsp.h"
#include "microgen/filters_3x3_s8.h"
#include "microgen/inline.h"
#include "microgen/planes_s8.h"
#include "microgen/scaling_s8.h"

enum {
    MG_3X3_SIDE = 3,
    MG_COLUMN = 8,       /* words */
    MG_COLUMNS_TAPS = 3, /* words of a filter: the four bytes of each column of taps */
    MG_COLUMNS_PART = 24 /* the most outputs at a time, half as many with stride 2 */
};

/* What all outputs are computed with. */
typedef struct {
    const int32_t *weight;
    const int32_t *bias;
    const int32_t *multiplier;
} mg_columns_scales;

/* Four channels of `count` outputs. Assembly reads the first seven. */
typedef struct {
    const uint32_t *columns;
    int8_t *output;
    const int32_t *weight;
    const int32_t *bias;
    const int32_t *multiplier;
    int32_t pair_step; /* step, and in the upper half the number of pairs of outputs less one */
    int32_t channels;  /* 4 */
    int32_t step;      /* bytes from one output to the next */
    int32_t count;
} mg_columns_four;

/* Makes columns zero points. */
MG_INLINE void mg_columns_clear(uint32_t *to, int32_t columns, uint32_t zero)
{
    mg_planes_clear(to, MG_COLUMN * columns, zero);
}

/* Stores two words, and returns the place of the next. GCC would store them one by one. */
MG_INLINE uint32_t *mg_columns_put(uint32_t *to, uint32_t first, uint32_t second)
{
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__GNUC__)
    __asm__ volatile("strd %[first], %[second], [%[to]], #8"
                     : [to] "+r"(to)
                     : [first] "r"(first), [second] "r"(second)
                     : "memory");
    return to;
#else
    to[0] = first;
    to[1] = second;
    return to + 2;
#endif
}

/* Copies four channels of `count` columns. `row` is the distance of rows, `step` that of columns.
 * It is out of line, because operators share it. */
static __attribute__((noinline, unused)) void
mg_columns_fill(const int8_t *from, int32_t step, int32_t row, int32_t count, uint32_t *to)
{
    const uint32_t *const end = to + MG_COLUMN * count;

    while (to != end) {
        const uint32_t first = mg_load_4_s8(from);
        const uint32_t second = mg_load_4_s8(from + row);
        const uint32_t third = mg_load_4_s8(from + 2 * row);
        const uint32_t low = mg_low_halves(first, second), high = mg_high_halves(first, second);
        const uint32_t last_even = mg_sxtb16(third), last_odd = mg_sxtb16_odd(third);

        to = mg_columns_put(to, mg_sxtb16(low), last_even);
        to = mg_columns_put(to, mg_sxtb16_odd(low), last_odd);
        to = mg_columns_put(to, mg_sxtb16(high), last_even);
        to = mg_columns_put(to, mg_sxtb16_odd(high), last_odd);
        from += step;
    }
}

/* With the linear requantization. Nine products of int8 values fit int32. */
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__GNUC__)

/* The argument is in r0. The stack gets MG_LINEAR's offset, and then what the argument points to.
 * For each channel, r4 to r6 are the first words of the taps, r7 to r9 the second ones, r10 is the
 * multiplier, r11 the place in the columns, r12 the place in the output, and lr is pair_step. r0
 * and r1 are sums of two outputs, r2 and r3 words of a column. */
#define MG_COLUMNS_BEGIN                                                                           \
    "push {r4-r11, lr}\n"                                                                          \
    "ldm r0, {r1-r7}\n"                                                                            \
    "push {r1-r7}\n"                                                                               \
    "sub sp, sp, #8\n"                                                                             \
    "1:\n"                                                                                         \
    "ldrd r0, r1, [sp, #16]\n"                                                                     \
    "ldr r2, [sp, #24]\n"                                                                          \
    "ldm r0!, {r7-r9}\n"                                                                           \
    "ldr r3, [r1], #4\n"                                                                           \
    "ldr r10, [r2], #4\n"                                                                          \
    "strd r0, r1, [sp, #16]\n"                                                                     \
    "str r2, [sp, #24]\n"                                                                          \
    "lsl r0, r3, #16\n"                                                                            \
    "asr r1, r3, #16\n"                                                                            \
    "strd r0, r1, [sp]\n"                                                                          \
    "ldrd r11, r12, [sp, #8]\n"                                                                    \
    "add r0, r11, #8\n"                                                                            \
    "add r1, r12, #1\n"                                                                            \
    "strd r0, r1, [sp, #8]\n"                                                                      \
    "ldr lr, [sp, #28]\n"                                                                          \
    "sxtb16 r4, r7\n"                                                                              \
    "sxtb16 r5, r8\n"                                                                              \
    "sxtb16 r6, r9\n"                                                                              \
    "sxtb16 r7, r7, ror #8\n"                                                                      \
    "sxtb16 r8, r8, ror #8\n"                                                                      \
    "sxtb16 r9, r9, ror #8\n"

/* The next channel, or the end. */
#define MG_COLUMNS_END                                                                             \
    "ldr r0, [sp, #32]\n"                                                                          \
    "subs r0, r0, #1\n"                                                                            \
    "str r0, [sp, #32]\n"                                                                          \
    "bne 1b\n"                                                                                     \
    "add sp, sp, #36\n"                                                                            \
    "pop {r4-r11, pc}\n"

/* A column's words, and their products. */
#define MG_COLUMNS_AT(column) "ldrd r2, r3, [r11, #32*" #column "]\n"
#define MG_COLUMNS_START(sum, first, second)                                                       \
    "smuad " sum ", r2, " first "\n"                                                               \
    "smlad " sum ", r3, " second ", " sum "\n"
#define MG_COLUMNS_SUM(sum, first, second)                                                         \
    "smlad " sum ", r2, " first ", " sum "\n"                                                      \
    "smlad " sum ", r3, " second ", " sum "\n"

/* Two sums with stride 1. The column that is loaded last moves to the next ones. */
#define MG_COLUMNS_PAIR                                                                            \
    MG_COLUMNS_AT(1)                                                                               \
    MG_COLUMNS_START("r0", "r5", "r8")                                                             \
    MG_COLUMNS_START("r1", "r4", "r7")                                                             \
    MG_COLUMNS_AT(2)                                                                               \
    MG_COLUMNS_SUM("r0", "r6", "r9")                                                               \
    MG_COLUMNS_SUM("r1", "r5", "r8")                                                               \
    MG_COLUMNS_AT(3)                                                                               \
    MG_COLUMNS_SUM("r1", "r6", "r9")                                                               \
    "ldrd r2, r3, [r11], #64\n" MG_COLUMNS_SUM("r0", "r4", "r7")

/* The same with stride 2. */
#define MG_COLUMNS_2_PAIR                                                                          \
    MG_COLUMNS_AT(1)                                                                               \
    MG_COLUMNS_START("r0", "r5", "r8")                                                             \
    MG_COLUMNS_AT(2)                                                                               \
    MG_COLUMNS_SUM("r0", "r6", "r9")                                                               \
    MG_COLUMNS_START("r1", "r4", "r7")                                                             \
    MG_COLUMNS_AT(3)                                                                               \
    MG_COLUMNS_SUM("r1", "r5", "r8")                                                               \
    MG_COLUMNS_AT(4)                                                                               \
    MG_COLUMNS_SUM("r1", "r6", "r9")                                                               \
    "ldrd r2, r3, [r11], #128\n" MG_COLUMNS_SUM("r0", "r4", "r7")

/* The last output of a row whose number of outputs is odd. */
#define MG_COLUMNS_LAST                                                                            \
    MG_COLUMNS_AT(0)                                                                               \
    MG_COLUMNS_START("r0", "r4", "r7")                                                             \
    MG_COLUMNS_AT(1)                                                                               \
    MG_COLUMNS_SUM("r0", "r5", "r8")                                                               \
    MG_COLUMNS_AT(2)                                                                               \
    MG_COLUMNS_SUM("r0", "r6", "r9")                                                               \
    MG_3X3_STORE

#define MG_COLUMNS_PAIRS(pair) "2:\n" pair MG_3X3_STORE_2 "bpl 2b\n"

/* Functions for pairs only, and for rows with a last output and perhaps no pairs. */
#define MG_COLUMNS_FUNCTION(name, outputs)                                                         \
    static __attribute__((naked, noinline, unused)) void name(__attribute__((unused))              \
                                                              const mg_columns_four *four)         \
    {                                                                                              \
        __asm__(MG_COLUMNS_BEGIN outputs MG_COLUMNS_END);                                          \
    }
#define MG_COLUMNS_ODD(pair)                                                                       \
    "cmp lr, #0\n"                                                                                 \
    "bmi 3f\n" MG_COLUMNS_PAIRS(pair) "3:\n" MG_COLUMNS_LAST

MG_COLUMNS_FUNCTION(mg_columns_even, MG_COLUMNS_PAIRS(MG_COLUMNS_PAIR))
MG_COLUMNS_FUNCTION(mg_columns_odd, MG_COLUMNS_ODD(MG_COLUMNS_PAIR))
MG_COLUMNS_FUNCTION(mg_columns_2_even, MG_COLUMNS_PAIRS(MG_COLUMNS_2_PAIR))
MG_COLUMNS_FUNCTION(mg_columns_2_odd, MG_COLUMNS_ODD(MG_COLUMNS_2_PAIR))

/* The outputs of four channels. `stride` is 1 or 2. */
MG_INLINE void mg_columns_filters(const mg_columns_four *four, int32_t stride)
{
    if (stride == 1) {
        if (four->count % 2 == 0) {
            mg_columns_even(four);
        } else {
            mg_columns_odd(four);
        }
    } else {
        if (four->count % 2 == 0) {
            mg_columns_2_even(four);
        } else {
            mg_columns_2_odd(four);
        }
    }
}

#else

/* The sum of the window whose columns begin at `column`. */
MG_INLINE int32_t mg_columns_sum(const uint32_t *column, const int32_t *taps)
{
    int32_t sum = 0;

    for (int32_t i = 0; i < MG_COLUMNS_TAPS; i++) {
        const uint32_t bytes = (uint32_t)taps[i];
        sum = mg_smlad(column[MG_COLUMN * i], mg_sxtb16(bytes), sum);
        sum = mg_smlad(column[MG_COLUMN * i + 1], mg_sxtb16_odd(bytes), sum);
    }
    return sum;
}

/* The outputs of four channels. `stride` is 1 or 2. */
MG_INLINE void mg_columns_filters(const mg_columns_four *four, int32_t stride)
{
    const mg_scaling s = {four->multiplier, NULL, 0, INT8_MIN, INT8_MAX};

    for (int32_t k = 0; k < four->channels; k++) {
        const mg_channel channel = mg_channel_of(&s, four->bias, k, MG_LINEAR);
        for (int32_t x = 0; x < four->count; x++) {
            const int32_t sum = mg_columns_sum(&four->columns[MG_COLUMN * stride * x + 2 * k],
                                               &four->weight[MG_COLUMNS_TAPS * k]);
            four->output[four->step * x + k] = mg_output(&s, &channel, sum, MG_LINEAR);
        }
    }
}

#endif

#endif
