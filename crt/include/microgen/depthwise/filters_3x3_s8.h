/* SPDX-License-Identifier: Apache-2.0 */
/* 3x3 filters that slide over a plane of microgen/depthwise/planes_s8.h, with all taps in
 * registers. */
#ifndef MICROGEN_FILTERS_3X3_S8_H
#define MICROGEN_FILTERS_3X3_S8_H

#include "microgen/blocks/dsp.h"
#include "microgen/depthwise/filters_s8.h"
#include "microgen/requantization/scaling_s8.h"

/* The lines of a plane have a constant pitch, because then the places of three values in three
 * lines need one register. A band is as many outputs as such a line has windows, with stride 1
 * and 2. */
#define MG_3X3_PITCH 14 /* words */
#define MG_3X3_2_PITCH 9

enum {
    MG_3X3_TAPS = 9,
    MG_3X3_BAND = 2 * (MG_3X3_PITCH - 1),
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

/* Computes all lines. weight are the nine taps of the channel. `stride`, 1 or 2, is a constant. */
MG_INLINE void mg_filters_3x3(const mg_filters_lines *l, const mg_filters_channel *c,
                              const int8_t *weight, int32_t stride, int requantization)
{
    const mg_filters_3x3_taps t = mg_filters_3x3_widen(weight);
    const int32_t pitch = (stride == 1) ? MG_3X3_PITCH : MG_3X3_2_PITCH;
    const uint32_t *line = c->plane;
    int8_t *output = c->output;

    for (int32_t y = 0; y < l->lines; y++) {
        const uint32_t *x = line;
        int8_t *to = output;
        for (int32_t left = l->count; left > 0; left -= 2) {
            const int32_t a = mg_filters_3x3_sum(x, pitch, &t);
            to[0] = mg_filters_output(l, c, a, requantization);
            if (left > 1) {
                const int32_t b = (stride == 1) ? mg_filters_3x3_next(x, pitch, &t)
                                                : mg_filters_3x3_sum(x + 1, pitch, &t);
                to[l->step] = mg_filters_output(l, c, b, requantization);
            }
            to += 2 * l->step;
            x += stride;
        }
        line += l->line_words;
        output += l->line_step;
    }
}

/* Sets what only 3x3 filters need. */
MG_INLINE void mg_filters_3x3_set_gaps(mg_filters_lines *l, int32_t stride)
{
    const int32_t pairs = l->count / 2;

    l->words_gap = 4 * (l->line_words - stride * pairs);
    l->output_gap = l->line_step - 2 * pairs * l->step;
    l->lines_left = l->lines;
    l->pair_step = l->step + 65536 * (pairs - 1);
}

/* With the linear requantization, this is in assembly, because it needs all registers: six for the
 * taps, four for two sums and two words, and four for the multiplier, both places, and the number
 * of pairs together with the step of the output. From C, compilers move six or more of them to the
 * stack. */
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__GNUC__)

#define MG_TEXT_(text) #text
#define MG_TEXT(text) MG_TEXT_(text)

/* The arguments are in r0 to r2. The stack gets the constant of mg_linear, and the first four of
 * mg_filters_lines. Then r0 and r1 are the sums of two outputs, r2 and r3 words of a row. r4 to r6
 * are the first words of the taps, r7 to r9 the second ones. r10 is the multiplier, r11 the place
 * in the plane, r12 the place in the output, and lr the step. */
#define MG_3X3_BEGIN                                                                               \
    "push {r4-r11, lr}\n"                                                                          \
    "ldm r0, {r4-r7}\n"                                                                            \
    "push {r4-r7}\n"                                                                               \
    "mov lr, r7\n"                                                                                 \
    "ldrd r11, r12, [r1]\n"                                                                        \
    "ldrd r3, r10, [r1, #8]\n"                                                                     \
    "lsl r4, r3, #16\n"                                                                            \
    "asr r5, r3, #16\n"                                                                            \
    "push {r4, r5}\n" MG_3X3_WIDEN
#define MG_3X3_WIDEN                                                                               \
    "ldr r4, [r2]\n"                                                                               \
    "ldr r5, [r2, #3]\n"                                                                           \
    "ldr r6, [r2, #6]\n"                                                                           \
    "sxtb16 r7, r4, ror #8\n"                                                                      \
    "sxtb16 r8, r5, ror #8\n"                                                                      \
    "sxtb16 r9, r6, ror #8\n"                                                                      \
    "sxtb16 r4, r4\n"                                                                              \
    "sxtb16 r5, r5\n"                                                                              \
    "sxtb16 r6, r6\n"                                                                              \
    "pkhbt r7, r7, r4\n"                                                                           \
    "pkhbt r8, r8, r5\n"                                                                           \
    "pkhbt r9, r9, r6\n"

/* The next line, or the end. The stack has `own` bytes before the first of mg_filters_lines. */
#define MG_3X3_END(own)                                                                            \
    "ldrd r2, r3, [sp, #" own "]\n"                                                                \
    "add r11, r11, r2\n"                                                                           \
    "add r12, r12, r3\n"                                                                           \
    "ldrd r2, lr, [sp, #" own "+8]\n"                                                              \
    "subs r2, r2, #1\n"                                                                            \
    "str r2, [sp, #" own "+8]\n"                                                                   \
    "bne 1b\n"                                                                                     \
    "add sp, sp, #" own "+16\n"                                                                    \
    "pop {r4-r11, pc}\n"

/* Requantizes and stores one sum, or both. With two, each instruction is far from the next one that
 * needs its result, for cores that issue two at a time. `subs` leaves the lower half of lr, the
 * step, as it is. */
#define MG_3X3_STORE                                                                               \
    "ldrd r2, r3, [sp]\n"                                                                          \
    "smlal r2, r3, r0, r10\n"                                                                      \
    "ssat r3, #8, r3, asr #2\n"                                                                    \
    "strb r3, [r12]\n"
#define MG_3X3_STORE_2                                                                             \
    "ldrd r2, r3, [sp]\n"                                                                          \
    "smlal r2, r3, r0, r10\n"                                                                      \
    "ssat r0, #8, r3, asr #2\n"                                                                    \
    "ldrd r2, r3, [sp]\n"                                                                          \
    "strb r0, [r12]\n"                                                                             \
    "smlal r2, r3, r1, r10\n"                                                                      \
    "uxtah r12, r12, lr\n"                                                                         \
    "subs lr, lr, #65536\n"                                                                        \
    "ssat r3, #8, r3, asr #2\n"                                                                    \
    "strb r3, [r12]\n"                                                                             \
    "uxtah r12, r12, lr\n"

/* A word of a row of a plane. */
#define MG_3X3_AT(row, pitch) "[r11, #16*" MG_TEXT(row) "*" MG_TEXT(pitch) "]\n"
#define MG_3X3_THIRD(row, pitch) "[r11, #16*" MG_TEXT(row) "*" MG_TEXT(pitch) "+8]\n"

/* The products of a row's words x and y. The row's taps are `first` and `second`. */
#define MG_3X3_START(sum, x, y, first, second)                                                     \
    "smuad " sum ", " x ", " first "\n"                                                            \
    "smlabb " sum ", " y ", " second ", " sum "\n"
#define MG_3X3_SUM(sum, x, y, first, second)                                                       \
    "smlad " sum ", " x ", " first ", " sum "\n"                                                   \
    "smlabb " sum ", " y ", " second ", " sum "\n"

/* The same, and in r1 those of the window one value later. */
#define MG_3X3_SUMS(first, second)                                                                 \
    "smlad r0, r2, " first ", r0\n"                                                                \
    "smlatb r1, r2, " first ", r1\n"                                                               \
    "smlabb r0, r3, " second ", r0\n"                                                              \
    "smladx r1, r3, " second ", r1\n"

/* clang-format off */

/* Two sums with stride 1. The row that is loaded last moves to the next words. */
#define MG_3X3_PAIR(pitch)                                                                         \
    "ldrd r2, r3, " MG_3X3_AT(1, pitch)                                                            \
    "smuad r0, r2, r5\n"                                                                           \
    "smultb r1, r2, r5\n"                                                                          \
    "smlabb r0, r3, r8, r0\n"                                                                      \
    "smladx r1, r3, r8, r1\n"                                                                      \
    "ldrd r2, r3, " MG_3X3_AT(2, pitch)                                                            \
    MG_3X3_SUMS("r6", "r9")                                                                        \
    "ldrd r2, r3, [r11], #4\n"                                                                     \
    MG_3X3_SUMS("r4", "r7")

/* The same with stride 2. The third word of a row takes the place of the first one. */
#define MG_3X3_2_PAIR(pitch)                                                                       \
    "ldrd r2, r3, " MG_3X3_AT(1, pitch)                                                            \
    MG_3X3_START("r0", "r2", "r3", "r5", "r8")                                                     \
    "ldr r2, " MG_3X3_THIRD(1, pitch)                                                              \
    MG_3X3_START("r1", "r3", "r2", "r5", "r8")                                                     \
    "ldrd r2, r3, " MG_3X3_AT(2, pitch)                                                            \
    MG_3X3_SUM("r0", "r2", "r3", "r6", "r9")                                                       \
    "ldr r2, " MG_3X3_THIRD(2, pitch)                                                              \
    MG_3X3_SUM("r1", "r3", "r2", "r6", "r9")                                                       \
    "ldrd r2, r3, [r11], #8\n"                                                                     \
    MG_3X3_SUM("r0", "r2", "r3", "r4", "r7")                                                       \
    "ldr r2, [r11]\n"                                                                              \
    MG_3X3_SUM("r1", "r3", "r2", "r4", "r7")

/* The last output of a line whose number of outputs is odd. Nothing moves. */
#define MG_3X3_LAST(pitch)                                                                         \
    "ldrd r2, r3, " MG_3X3_AT(1, pitch)                                                            \
    MG_3X3_START("r0", "r2", "r3", "r5", "r8")                                                     \
    "ldrd r2, r3, " MG_3X3_AT(2, pitch)                                                            \
    MG_3X3_SUM("r0", "r2", "r3", "r6", "r9")                                                       \
    "ldrd r2, r3, [r11]\n"                                                                         \
    MG_3X3_SUM("r0", "r2", "r3", "r4", "r7")

/* clang-format on */

#define MG_3X3_PAIRS(pair, pitch, store) "2:\n" pair(pitch) store "bpl 2b\n"

/* Functions for lines with pairs only, and for lines with a last output and perhaps no pairs. */
#define MG_3X3_FUNCTION_OF(name, type, begin, lines, own)                                          \
    static __attribute__((naked, noinline, unused)) void name(                                     \
        __attribute__((unused)) const mg_filters_lines *l, __attribute__((unused)) const type *c,  \
        __attribute__((unused)) const int8_t *weight)                                              \
    {                                                                                              \
        __asm__(begin "1:\n" lines MG_3X3_END(own));                                               \
    }
#define MG_3X3_FUNCTION(name, lines)                                                               \
    MG_3X3_FUNCTION_OF(name, mg_filters_channel, MG_3X3_BEGIN, lines, "8")
#define MG_3X3_EVEN(pair, pitch) MG_3X3_PAIRS(pair, pitch, MG_3X3_STORE_2)
#define MG_3X3_ODD_OF(pair, pitch, store, store_2)                                                 \
    "cmp lr, #0\n"                                                                                 \
    "bmi 3f\n" MG_3X3_PAIRS(pair, pitch, store_2) "3:\n" MG_3X3_LAST(pitch) store
#define MG_3X3_ODD(pair, pitch) MG_3X3_ODD_OF(pair, pitch, MG_3X3_STORE, MG_3X3_STORE_2)

#define MG_3X3_LINEAR_FUNCTIONS(name, pair, pitch)                                                 \
    MG_3X3_FUNCTION(name##_even, MG_3X3_EVEN(pair, pitch))                                         \
    MG_3X3_FUNCTION(name##_odd, MG_3X3_ODD(pair, pitch))

/* They are named like the kernels, so that their bytes are counted as those of the kernels. */
MG_3X3_LINEAR_FUNCTIONS(mg_depthwise_conv2d_s8_linear_3x3, MG_3X3_PAIR, MG_3X3_PITCH)
MG_3X3_LINEAR_FUNCTIONS(mg_depthwise_conv2d_s8_linear_3x3_stride_2, MG_3X3_2_PAIR, MG_3X3_2_PITCH)
MG_3X3_LINEAR_FUNCTIONS(mg_depthwise_conv2d_s8_mixed_3x3_usual, MG_3X3_PAIR, MG_3X3_PITCH)
MG_3X3_LINEAR_FUNCTIONS(mg_depthwise_conv2d_s8_mixed_3x3_stride_2_usual, MG_3X3_2_PAIR,
                        MG_3X3_2_PITCH)

/* The same for a channel with a mark, in the order in which the assembly loads it: what sums begin
 * with, and `half + first`, `2 * first` and `bits` of mg_marked, which are on the stack. */
typedef struct {
    int32_t start;
    int32_t half;
    int32_t twice;
    int32_t bits;
    const uint32_t *plane;
    int8_t *output;
    int32_t multiplier;
} mg_filters_marked;

#define MG_3X3_MARKED_BEGIN                                                                        \
    "push {r4-r11, lr}\n"                                                                          \
    "ldm r0, {r4-r7}\n"                                                                            \
    "push {r4-r7}\n"                                                                               \
    "mov lr, r7\n"                                                                                 \
    "ldm r1!, {r4-r7}\n"                                                                           \
    "push {r4-r7}\n"                                                                               \
    "ldrd r11, r12, [r1]\n"                                                                        \
    "ldr r10, [r1, #8]\n" MG_3X3_WIDEN
#define MG_3X3_MARKED_STORE(sum)                                                                   \
    "ldrd r2, r3, [sp]\n"                                                                          \
    "add " sum ", r2, " sum ", lsl #8\n"                                                           \
    "smmla r2, " sum ", r10, r3\n"                                                                 \
    "ldr r3, [sp, #8]\n"                                                                           \
    "and " sum ", r3, " sum ", asr #31\n"                                                          \
    "ldr r3, [sp, #12]\n"                                                                          \
    "sub r2, r2, " sum "\n"                                                                        \
    "asr r2, r2, r3\n"                                                                             \
    "ssat r2, #8, r2, asr #1\n"                                                                    \
    "strb r2, [r12]\n"
#define MG_3X3_MARKED_STORE_2                                                                      \
    MG_3X3_MARKED_STORE("r0")                                                                      \
    "uxtah r12, r12, lr\n" MG_3X3_MARKED_STORE("r1") "subs lr, lr, #65536\n"                       \
                                                     "uxtah r12, r12, lr\n"
#define MG_3X3_MARKED_FUNCTIONS(name, pair, pitch)                                                 \
    MG_3X3_FUNCTION_OF(name##_even, mg_filters_marked, MG_3X3_MARKED_BEGIN,                        \
                       MG_3X3_PAIRS(pair, pitch, MG_3X3_MARKED_STORE_2), "16")                     \
    MG_3X3_FUNCTION_OF(                                                                            \
        name##_odd, mg_filters_marked, MG_3X3_MARKED_BEGIN,                                        \
        MG_3X3_ODD_OF(pair, pitch, MG_3X3_MARKED_STORE("r0"), MG_3X3_MARKED_STORE_2), "16")

MG_3X3_MARKED_FUNCTIONS(mg_depthwise_conv2d_s8_mixed_3x3, MG_3X3_PAIR, MG_3X3_PITCH)
MG_3X3_MARKED_FUNCTIONS(mg_depthwise_conv2d_s8_mixed_3x3_stride_2, MG_3X3_2_PAIR, MG_3X3_2_PITCH)

/* Defines a function that calls the one of four that suits the stride and the number of outputs. */
#define MG_3X3_DISPATCH(name, type, one, two)                                                      \
    MG_INLINE void name(const mg_filters_lines *l, const type *c, const int8_t *weight,            \
                        int32_t stride)                                                            \
    {                                                                                              \
        if (stride == 1) {                                                                         \
            if (l->count % 2 == 0) {                                                               \
                one##_even(l, c, weight);                                                          \
            } else {                                                                               \
                one##_odd(l, c, weight);                                                           \
            }                                                                                      \
        } else {                                                                                   \
            if (l->count % 2 == 0) {                                                               \
                two##_even(l, c, weight);                                                          \
            } else {                                                                               \
                two##_odd(l, c, weight);                                                           \
            }                                                                                      \
        }                                                                                          \
    }

MG_3X3_DISPATCH(mg_filters_3x3_linear, mg_filters_channel, mg_depthwise_conv2d_s8_linear_3x3,
                mg_depthwise_conv2d_s8_linear_3x3_stride_2)
MG_3X3_DISPATCH(mg_filters_3x3_usual, mg_filters_channel, mg_depthwise_conv2d_s8_mixed_3x3_usual,
                mg_depthwise_conv2d_s8_mixed_3x3_stride_2_usual)
MG_3X3_DISPATCH(mg_filters_3x3_exact, mg_filters_marked, mg_depthwise_conv2d_s8_mixed_3x3,
                mg_depthwise_conv2d_s8_mixed_3x3_stride_2)

/* The channels of MG_LINEAR_MIXED, with a mark or without one. */
MG_INLINE void mg_filters_3x3_mixed(const mg_filters_lines *l, const mg_filters_channel *c,
                                    const int8_t *weight, int32_t stride)
{
    const int32_t first = c->scale.shift & 64;
    const int32_t bits = c->scale.shift & 63;

    if (mg_is_marked(&c->scale)) {
        const mg_filters_marked marked = {c->scale.bias,
                                          (1 + 2 * l->output_offset) * ((int32_t)1 << bits) + first,
                                          2 * first,
                                          bits,
                                          c->plane,
                                          c->output,
                                          c->scale.multiplier & INT32_MAX};
        mg_filters_3x3_exact(l, &marked, weight, stride);
    } else {
        mg_filters_3x3_usual(l, c, weight, stride);
    }
}

#else

MG_INLINE void mg_filters_3x3_linear(const mg_filters_lines *l, const mg_filters_channel *c,
                                     const int8_t *weight, int32_t stride)
{
    mg_filters_3x3(l, c, weight, stride, MG_LINEAR);
}

MG_INLINE void mg_filters_3x3_mixed(const mg_filters_lines *l, const mg_filters_channel *c,
                                    const int8_t *weight, int32_t stride)
{
    if (mg_is_marked(&c->scale)) {
        mg_filters_3x3(l, c, weight, stride, MG_MARKED);
    } else {
        mg_filters_3x3(l, c, weight, stride, MG_LINEAR);
    }
}

#endif

#endif
