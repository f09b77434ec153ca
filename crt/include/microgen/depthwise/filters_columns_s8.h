/* SPDX-License-Identifier: Apache-2.0 */
/* 3x3 filters of four channels over columns of three int8 values, for cores with the DSP extension.
 *
 * A column has two words for each of the channels. The halves of the first word are the values of
 * the first two rows. The second word has the values of the third row of two channels: those of
 * channels 0 and 2 share one, and those of channels 1 and 3. Its low half is that of channels 0 and
 * 1. So a filter's taps for it are a word, too, in which the other half is 0. The words of the taps
 * are in the order in which the assembly loads them: those for the first words of three columns,
 * and then those for the second words. */
#ifndef MICROGEN_FILTERS_COLUMNS_S8_H
#define MICROGEN_FILTERS_COLUMNS_S8_H

#include <stddef.h>

#include "microgen/blocks/dsp.h"
#include "microgen/depthwise/filters_3x3_s8.h"
#include "microgen/depthwise/planes_s8.h"
#include "microgen/requantization/scaling_s8.h"

enum {
    MG_3X3_SIDE = 3,
    MG_COLUMN = 8,       /* words */
    MG_COLUMNS_TAPS = 6, /* words of a filter: two for each column */
    MG_COLUMNS_PART = 24 /* the most outputs at a time, half as many with stride 2 */
};

/* What all outputs are computed with. */
typedef struct {
    const int32_t *weight;
    const int32_t *bias;
    const int32_t *multiplier;
} mg_columns_scales;

/* Blocks of four channels of `count` outputs. Assembly reads all but the last two. */
typedef struct {
    const int8_t *rows[3]; /* of each row, the first value of the columns that are filled */
    uint32_t *to;          /* these columns: those inside the image */
    uint32_t *end;
    int32_t channel;         /* the first block's */
    const uint32_t *columns; /* all columns, also those of padding */
    int8_t *output;
    const int32_t *weight;
    const int32_t *bias;
    const int32_t *multiplier;
    int32_t pair_step; /* step, and in the upper half the number of pairs of outputs less one */
    int32_t blocks;    /* 1 or more */
    int32_t step;      /* bytes from one pixel to the next, of values and outputs */
    int32_t count;
} mg_columns_blocks;

/* Makes columns zero points. */
MG_INLINE void mg_columns_clear(uint32_t *to, int32_t columns, uint32_t zero)
{
    mg_planes_clear(to, MG_COLUMN * columns, zero);
}

/* With the linear requantization. Nine products of int8 values fit int32. */
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__GNUC__)

/* The argument is in r0. The stack gets MG_LINEAR's bias, and then what the argument points to. A
 * block's columns are filled: r0 is the place in the values, r1 and r5 are the distances of rows,
 * r2 is the place in the columns, r3 their end, r4 the step. r6 and r8 are the first words of two
 * channels, r7 and r9 the second ones.
 *
 * For each channel, r4 to r6 are the first words of the taps, r7 to r9 the second ones, r10 is the
 * multiplier, r11 the place in the columns, r12 the place in the output, and lr is pair_step. r0
 * and r1 are sums of two outputs, r2 and r3 words of a column. */
#define MG_COLUMNS_BEGIN                                                                           \
    "push {r4-r11, lr}\n"                                                                          \
    "ldm r0!, {r1-r6}\n"                                                                           \
    "sub sp, sp, #28\n"                                                                            \
    "push {r1-r6}\n"                                                                               \
    "ldm r0, {r1-r7}\n"                                                                            \
    "add r0, sp, #24\n"                                                                            \
    "stm r0, {r1-r7}\n"                                                                            \
    "sub sp, sp, #8\n"                                                                             \
    "1:\n"                                                                                         \
    "add r0, sp, #8\n"                                                                             \
    "ldm r0, {r0-r5}\n"                                                                            \
    "sub r1, r1, r0\n"                                                                             \
    "sub r2, r2, r0\n"                                                                             \
    "add r0, r0, r5\n"                                                                             \
    "ldrh r5, [sp, #52]\n"                                                                         \
    "cmp r3, r4\n"                                                                                 \
    "beq 5f\n"                                                                                     \
    "4:\n"                                                                                         \
    "ldr r6, [r0]\n"                                                                               \
    "ldr r7, [r0, r1]\n"                                                                           \
    "ldr r9, [r0, r2]\n"                                                                           \
    "pkhbt r10, r6, r7, lsl #16\n"                                                                 \
    "pkhtb r11, r7, r6, asr #16\n"                                                                 \
    "sxtb16 r7, r9\n"                                                                              \
    "sxtb16 r9, r9, ror #8\n"                                                                      \
    "sxtb16 r6, r10\n"                                                                             \
    "sxtb16 r8, r10, ror #8\n"                                                                     \
    "stm r3!, {r6-r9}\n"                                                                           \
    "sxtb16 r6, r11\n"                                                                             \
    "sxtb16 r8, r11, ror #8\n"                                                                     \
    "stm r3!, {r6-r9}\n"                                                                           \
    "add r0, r0, r5\n"                                                                             \
    "cmp r3, r4\n"                                                                                 \
    "bne 4b\n"                                                                                     \
    "5:\n"

/* The next block, or the end. */
#define MG_COLUMNS_END                                                                             \
    "ldr r0, [sp, #28]\n"                                                                          \
    "add r0, r0, #4\n"                                                                             \
    "str r0, [sp, #28]\n"                                                                          \
    "add r0, sp, #36\n"                                                                            \
    "ldm r0, {r1-r4}\n"                                                                            \
    "add r1, r1, #4\n"                                                                             \
    "add r2, r2, #96\n"                                                                            \
    "add r3, r3, #16\n"                                                                            \
    "add r4, r4, #16\n"                                                                            \
    "stm r0, {r1-r4}\n"                                                                            \
    "ldr r0, [sp, #56]\n"                                                                          \
    "subs r0, r0, #1\n"                                                                            \
    "str r0, [sp, #56]\n"                                                                          \
    "bne 1b\n"                                                                                     \
    "add sp, sp, #60\n"                                                                            \
    "pop {r4-r11, pc}\n"

/* The outputs of the four channels. */
#define MG_COLUMNS_CHANNELS(outputs)                                                               \
    ".irp channel, 0, 1, 2, 3\n"                                                                   \
    "add r0, sp, #40\n"                                                                            \
    "ldm r0, {r0-r2, lr}\n"                                                                        \
    ".if \\channel\n"                                                                              \
    "add r0, r0, #24*\\channel\n"                                                                  \
    ".endif\n"                                                                                     \
    "ldm r0, {r4-r9}\n"                                                                            \
    "ldr r3, [r1, #4*\\channel]\n"                                                                 \
    "ldr r10, [r2, #4*\\channel]\n"                                                                \
    "lsl r0, r3, #16\n"                                                                            \
    "asr r1, r3, #16\n"                                                                            \
    "strd r0, r1, [sp]\n"                                                                          \
    "ldrd r11, r12, [sp, #32]\n"                                                                   \
    ".if \\channel\n"                                                                              \
    "add r11, r11, #8*\\channel\n"                                                                 \
    "add r12, r12, #\\channel\n"                                                                   \
    ".endif\n" outputs ".endr\n"

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

/* Functions for pairs only, for pairs and a last output, and for one output. */
#define MG_COLUMNS_FUNCTION(name, outputs)                                                         \
    static __attribute__((naked, noinline, unused)) void name(__attribute__((unused))              \
                                                              const mg_columns_blocks *blocks)     \
    {                                                                                              \
        __asm__(MG_COLUMNS_BEGIN MG_COLUMNS_CHANNELS(outputs) MG_COLUMNS_END);                     \
    }

MG_COLUMNS_FUNCTION(mg_columns_even, MG_COLUMNS_PAIRS(MG_COLUMNS_PAIR))
MG_COLUMNS_FUNCTION(mg_columns_odd, MG_COLUMNS_PAIRS(MG_COLUMNS_PAIR) MG_COLUMNS_LAST)
MG_COLUMNS_FUNCTION(mg_columns_2_even, MG_COLUMNS_PAIRS(MG_COLUMNS_2_PAIR))
MG_COLUMNS_FUNCTION(mg_columns_2_odd, MG_COLUMNS_PAIRS(MG_COLUMNS_2_PAIR) MG_COLUMNS_LAST)
MG_COLUMNS_FUNCTION(mg_columns_one, MG_COLUMNS_LAST)

/* The outputs of all blocks. `stride` is 1 or 2. */
MG_INLINE void mg_columns_filters(const mg_columns_blocks *blocks, int32_t stride)
{
    if (blocks->count == 1) {
        mg_columns_one(blocks);
    } else if (stride == 1) {
        if (blocks->count % 2 == 0) {
            mg_columns_even(blocks);
        } else {
            mg_columns_odd(blocks);
        }
    } else {
        if (blocks->count % 2 == 0) {
            mg_columns_2_even(blocks);
        } else {
            mg_columns_2_odd(blocks);
        }
    }
}

#else

/* Copies the columns of the block that begins with a channel. */
MG_INLINE void mg_columns_fill(const mg_columns_blocks *blocks, int32_t channel)
{
    int32_t at = channel;

    for (uint32_t *to = blocks->to; to != blocks->end; to += MG_COLUMN) {
        const uint32_t first = mg_load_4_s8(&blocks->rows[0][at]);
        const uint32_t second = mg_load_4_s8(&blocks->rows[1][at]);
        const uint32_t third = mg_load_4_s8(&blocks->rows[2][at]);
        const uint32_t low = mg_low_halves(first, second), high = mg_high_halves(first, second);

        to[0] = mg_sxtb16(low);
        to[2] = mg_sxtb16_odd(low);
        to[4] = mg_sxtb16(high);
        to[6] = mg_sxtb16_odd(high);
        to[1] = mg_sxtb16(third);
        to[3] = mg_sxtb16_odd(third);
        to[5] = to[1];
        to[7] = to[3];
        at += blocks->step;
    }
}

/* The sum of the window whose columns begin at `column`. */
MG_INLINE int32_t mg_columns_sum(const uint32_t *column, const int32_t *taps)
{
    int32_t sum = 0;

    for (int32_t i = 0; i < MG_3X3_SIDE; i++) {
        sum = mg_smlad(column[MG_COLUMN * i], (uint32_t)taps[i], sum);
        sum = mg_smlad(column[MG_COLUMN * i + 1], (uint32_t)taps[MG_3X3_SIDE + i], sum);
    }
    return sum;
}

/* The outputs of all blocks. `stride` is 1 or 2. */
MG_INLINE void mg_columns_filters(const mg_columns_blocks *blocks, int32_t stride)
{
    const mg_scaling s = {blocks->multiplier, NULL, 0, INT8_MIN, INT8_MAX};

    for (int32_t c = 0; c < MG_PLANES * blocks->blocks; c++) {
        const mg_channel channel = mg_channel_of(&s, blocks->bias, c, MG_LINEAR);
        const uint32_t *const columns = &blocks->columns[2 * (c % MG_PLANES)];
        if (c % MG_PLANES == 0) {
            mg_columns_fill(blocks, blocks->channel + c);
        }
        for (int32_t x = 0; x < blocks->count; x++) {
            const int32_t sum = mg_columns_sum(&columns[MG_COLUMN * stride * x],
                                               &blocks->weight[MG_COLUMNS_TAPS * c]);
            blocks->output[blocks->step * x + c] = mg_output(&s, &channel, sum, MG_LINEAR);
        }
    }
}

#endif

#endif
