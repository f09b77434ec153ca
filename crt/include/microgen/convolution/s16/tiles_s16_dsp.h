/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, int16 with int8 weights, for the DSP extension: three pixels and two channels at
 * a time, from windows that are copied first.
 *
 * A word of weights is widened once for three pixels. Their windows are copied so that one load
 * instruction reads a pair of values of each: [pairs of a window][3 pixels][2]. */
#ifndef MICROGEN_TILES_S16_DSP_H
#define MICROGEN_TILES_S16_DSP_H

#include <string.h>

#include "microgen/blocks/blocks_s16.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/convolution/pixel_lines.h"
#include "microgen/convolution/s16/conv2d_s16.h"
#include "microgen/convolution/s16/copied_window_s16.h"
#include "microgen/out_of_line.h"

enum {
    MG_TILE_S16 = 3,                   /* pixels */
    MG_TILE_PAIR_S16 = 2 * MG_TILE_S16 /* values from a pair of a window to the next */
};

/* Where value i of a window is, from its first value on. */
MG_INLINE int32_t mg_tile_place_s16(int32_t i)
{
    return i / 2 * MG_TILE_PAIR_S16 + i % 2;
}

/* Copies values first to first + count - 1 of a window. */
MG_INLINE void mg_spread_s16(int16_t *window, int32_t first, const int16_t *from, int32_t count)
{
    int16_t *to = &window[mg_tile_place_s16(first)];
    int32_t left = count;

    if (first % 2 != 0) {
        *to = *from++;
        to += MG_TILE_PAIR_S16 - 1;
        left--;
    }
    for (; left >= 8; left -= 8) {
        const mg_four_s16 a = mg_next_4_s16(&from);
        const mg_four_s16 b = mg_next_4_s16(&from);
        memcpy(to, &a.low, sizeof(a.low));
        memcpy(&to[MG_TILE_PAIR_S16], &a.high, sizeof(a.high));
        memcpy(&to[2 * MG_TILE_PAIR_S16], &b.low, sizeof(b.low));
        memcpy(&to[3 * MG_TILE_PAIR_S16], &b.high, sizeof(b.high));
        to += 4 * MG_TILE_PAIR_S16;
    }
    for (; left >= 2; left -= 2) {
        const uint32_t pair = mg_load_2_s16(from);
        memcpy(to, &pair, sizeof(pair));
        from += 2;
        to += MG_TILE_PAIR_S16;
    }
    if (left > 0) {
        *to = *from;
    }
}

/* Copies pairs of values of three pixels, `step` values apart, to a tile. */
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && __ARM_ARCH_ISA_THUMB >= 2
/* In assembly, because compilers do not store three words by one instruction. */
MG_INLINE void mg_spread_pairs_s16(int16_t *to, const int16_t *from, int32_t step, int32_t pairs)
{
    const int16_t *q = &from[step];
    const int16_t *r = &q[step];
    int32_t left = pairs;

    __asm__ volatile("lsrs %[left], %[left], #1\n\t"
                     "bcc 1f\n\t"
                     "ldr r2, [%[p]], #4\n\t"
                     "ldr r3, [%[q]], #4\n\t"
                     "ldr r4, [%[r]], #4\n\t"
                     "stmia %[to]!, {r2-r4}\n"
                     "1:\n\t"
                     "beq 3f\n"
                     "2:\n\t"
                     "ldr r2, [%[p]], #4\n\t"
                     "ldr r3, [%[q]], #4\n\t"
                     "ldr r4, [%[r]], #4\n\t"
                     "stmia %[to]!, {r2-r4}\n\t"
                     "ldr r2, [%[p]], #4\n\t"
                     "ldr r3, [%[q]], #4\n\t"
                     "ldr r4, [%[r]], #4\n\t"
                     "stmia %[to]!, {r2-r4}\n\t"
                     "subs %[left], %[left], #1\n\t"
                     "bne 2b\n"
                     "3:"
                     : [to] "+r"(to), [p] "+r"(from), [q] "+r"(q), [r] "+r"(r), [left] "+r"(left)
                     :
                     : "r2", "r3", "r4", "cc", "memory");
}
#else
MG_INLINE void mg_spread_pairs_s16(int16_t *to, const int16_t *from, int32_t step, int32_t pairs)
{
    for (int32_t i = 0; i < 2 * pairs; i += 2) {
        for (int32_t k = 0; k < MG_TILE_S16; k++) {
            memcpy(to, &from[k * step + i], 2 * sizeof(int16_t));
            to += 2;
        }
    }
}
#endif

/* Copies values first to first + count - 1 of the windows of three pixels. */
MG_INLINE void mg_spread_three_s16(int16_t *windows, int32_t first, const int16_t *from,
                                   int32_t step, int32_t count)
{
    const int32_t before = first % 2;
    const int32_t pairs = (count - before) / 2;
    const int32_t last = before + 2 * pairs;
    int16_t *to = &windows[mg_tile_place_s16(first)];
    int16_t *end = &windows[mg_tile_place_s16(first + last)];

    if (before != 0) {
        to[0] = from[0];
        to[2] = from[step];
        to[4] = from[2 * step];
    }
    mg_spread_pairs_s16(&windows[mg_tile_place_s16(first + before)], &from[before], step, pairs);
    if (last < count) {
        end[0] = from[last];
        end[2] = from[last + step];
        end[4] = from[last + 2 * step];
    }
}

/* The tile of the windows that are copied. */
typedef struct {
    int16_t *windows;
    int32_t words;  /* fours of a filter */
    mg_taps whole;  /* columns of pixels whose windows are inside the input */
    mg_place place; /* of the next pixel */
} mg_spread_s16_tile;

/* Sets all values to 0, and so those that follow a window. */
MG_INLINE void mg_clear_tile_s16(const mg_spread_s16_tile *tile)
{
    memset(tile->windows, 0,
           (uint32_t)(2 * tile->words * MG_TILE_PAIR_S16) * (uint32_t)sizeof(int16_t));
}

/* Copies the next window, of pixel k of the tile. */
MG_INLINE void mg_spread_window_s16(const mg_conv2d_shape *s, const mg_spread_s16_tile *tile,
                                    const int16_t *input, int32_t k)
{
    const mg_window w = mg_conv2d_window_at(s, tile->place.n, tile->place.y, tile->place.x);

    for (int32_t row = 0; row < w.rows; row++) {
        for (int32_t run = 0; run < w.runs; run++) {
            mg_spread_s16(&tile->windows[2 * k],
                          w.weight + row * w.next_weight_row + run * w.next_weight_run,
                          &input[w.value + row * w.next_row + run * w.next_run], w.length);
        }
    }
}

/* The same of three pixels of a row whose columns are inside the input. */
MG_INLINE void mg_spread_windows_s16(const mg_conv2d_shape *s, const mg_spread_s16_tile *tile,
                                     const int16_t *input)
{
    const mg_window w = mg_conv2d_window_at(s, tile->place.n, tile->place.y, tile->place.x);
    const int32_t step = s->stride_width * s->input_channels;

    if (w.rows < s->kernel_height) {
        mg_clear_tile_s16(tile);
    }
    for (int32_t row = 0; row < w.rows; row++) {
        for (int32_t run = 0; run < w.runs; run++) {
            mg_spread_three_s16(
                tile->windows, w.weight + row * w.next_weight_row + run * w.next_weight_run,
                &input[w.value + row * w.next_row + run * w.next_run], step, w.length);
        }
    }
}

/* Copies the windows of the next `count` pixels, 1 to 3. */
MG_INLINE void mg_fill_tile_s16(const mg_conv2d_shape *s, mg_spread_s16_tile *tile,
                                const int16_t *input, int32_t count)
{
    const int32_t x = tile->place.x;

    if (count == MG_TILE_S16 && x >= tile->whole.begin && x + MG_TILE_S16 <= tile->whole.end) {
        mg_spread_windows_s16(s, tile, input);
        tile->place.x += MG_TILE_S16 - 1;
        mg_next_place(s, &tile->place);
        return;
    }
    mg_clear_tile_s16(tile);
    for (int32_t k = 0; k < count; k++) {
        mg_spread_window_s16(s, tile, input, k);
        mg_next_place(s, &tile->place);
    }
}

/* The activation's limits, twice each. */
typedef struct {
    uint32_t least;
    uint32_t most;
} mg_limits_s16;

/* How a tile reads its operands. These are constants of what is compiled. */
enum {
    MG_TILE_BYTES = 0,  /* words of four int8 weights, [pairs][words][2 channels] */
    MG_TILE_WORDS = 1,  /* weights in int16, [pairs][pairs of a filter][2 channels][2] */
    MG_TILE_DOUBLES = 2 /* the same, without loads of several words */
};

/* A tile, in the order in which the assembly loads it. */
typedef struct {
    const int16_t *windows;
    const int32_t *weights;
    const int16_t *end; /* of the windows */
    int32_t is_odd;     /* whether the number of words of a filter is odd */
    const int32_t *bias;
    const int32_t *factor;
    int16_t *output;
    int32_t second; /* bytes from the first pixel's output to the second one's */
    int32_t third;
    int32_t pairs; /* of channels */
    int32_t clamp; /* 0: none; 1: least is 0 and most is INT16_MAX; 2: another */
    const mg_limits_s16 *limits;
} mg_tile_s16;

#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && __ARM_ARCH_ISA_THUMB >= 2
/* clang-format off */

/* Adds the products of four values of each pixel with a word of each filter. */
#define MG_STEP_3X2_S16                                                                            \
    "ldmia r0!, {r1-r3}\n"                                                                         \
    "ldrd r5, r6, [r4], #8\n"                                                                      \
    "sxtb16 r7, r5\n"                                                                              \
    "smlad r8, r1, r7, r8\n"                                                                       \
    "smlad r9, r2, r7, r9\n"                                                                       \
    "smlad r10, r3, r7, r10\n"                                                                     \
    "sxtb16 r7, r6\n"                                                                              \
    "smlad r11, r1, r7, r11\n"                                                                     \
    "smlad r12, r2, r7, r12\n"                                                                     \
    "smlad lr, r3, r7, lr\n"                                                                       \
    "ldmia r0!, {r1-r3}\n"                                                                         \
    "sxtb16 r5, r5, ror #8\n"                                                                      \
    "smlad r8, r1, r5, r8\n"                                                                       \
    "smlad r9, r2, r5, r9\n"                                                                       \
    "smlad r10, r3, r5, r10\n"                                                                     \
    "sxtb16 r6, r6, ror #8\n"                                                                      \
    "smlad r11, r1, r6, r11\n"                                                                     \
    "smlad r12, r2, r6, r12\n"                                                                     \
    "smlad lr, r3, r6, lr\n"

/* The same with weights that are already int16. */
#define MG_WORDS_3X2_HALF_S16 \
    "ldmia r0!, {r1-r3}\n"                                                                         \
    "ldrd r5, r6, [r4], #8\n"                                                                      \
    "smlad r8, r1, r5, r8\n"                                                                       \
    "smlad r9, r2, r5, r9\n"                                                                       \
    "smlad r10, r3, r5, r10\n"                                                                     \
    "smlad r11, r1, r6, r11\n"                                                                     \
    "smlad r12, r2, r6, r12\n"                                                                     \
    "smlad lr, r3, r6, lr\n"
#define MG_WORDS_3X2_S16 MG_WORDS_3X2_HALF_S16 MG_WORDS_3X2_HALF_S16

/* The same for cores that issue a load with a product, but wait for LDM. Nothing is loaded right
 * before its use, as far as registers allow. */
#define MG_DOUBLES_3X2_S16                                                                         \
    "ldrd r1, r2, [r0], #12\n"                                                                     \
    "ldrd r5, r6, [r4], #8\n"                                                                      \
    "ldr r3, [r0, #-4]\n"                                                                          \
    "smlad r8, r1, r5, r8\n"                                                                       \
    "smlad r11, r1, r6, r11\n"                                                                     \
    "smlad r9, r2, r5, r9\n"                                                                       \
    "smlad r12, r2, r6, r12\n"                                                                     \
    "ldrd r1, r2, [r0], #12\n"                                                                     \
    "smlad r10, r3, r5, r10\n"                                                                     \
    "ldrd r7, r5, [r4], #8\n"                                                                      \
    "smlad lr, r3, r6, lr\n"                                                                       \
    "ldr r3, [r0, #-4]\n"                                                                          \
    "smlad r8, r1, r7, r8\n"                                                                       \
    "smlad r11, r1, r5, r11\n"                                                                     \
    "smlad r9, r2, r7, r9\n"                                                                       \
    "smlad r12, r2, r5, r12\n"                                                                     \
    "smlad r10, r3, r7, r10\n"                                                                     \
    "smlad lr, r3, r5, lr\n"

/* The six outputs from their sums and the factors in r5 and r6. */
#define MG_SCALED_3X2_S16                                                                          \
    "smmulr r8, r8, r5\n"                                                                          \
    "smmulr r9, r9, r5\n"                                                                          \
    "smmulr r10, r10, r5\n"                                                                        \
    "smmulr r11, r11, r6\n"                                                                        \
    "smmulr r12, r12, r6\n"                                                                        \
    "smmulr lr, lr, r6\n"
#define MG_SATURATED_3X2_S16(saturate, bits)                                                       \
    saturate " r8, " bits ", r8\n" saturate " r9, " bits ", r9\n" saturate " r10, " bits            \
             ", r10\n" saturate " r11, " bits ", r11\n" saturate " r12, " bits                     \
             ", r12\n" saturate " lr, " bits ", lr\n"

/* Two outputs in a word, within the limits in r5 and r6. */
#define MG_LIMITED_3X2_S16(a)                                                                      \
    "ssub16 r7, " a ", r5\n"                                                                       \
    "sel " a ", " a ", r5\n"                                                                       \
    "ssub16 r7, r6, " a "\n"                                                                       \
    "sel " a ", " a ", r6\n"

/* Computes the tile's pairs of channels. In assembly, because that takes all registers. r7 and r11
 * may be frame pointers and are restored. Where one pixel stands for others, the last one to be
 * stored is the first. */
#define MG_TILE_S16_ASSEMBLY(step)                                                                 \
    __asm__ volatile(                                                                              \
        "push {r7, r11}\n"                                                                         \
        "ldm r0, {r1-r12}\n"                                                                       \
        "push {r1-r12}\n"                                                                          \
        "1:\n"                                                                                     \
        "ldr r7, [sp, #16]\n"                                                                      \
        "ldrd r0, r4, [sp]\n"                                                                      \
        "ldrd r8, r11, [r7], #8\n"                                                                 \
        "str r7, [sp, #16]\n"                                                                      \
        "ldr r7, [sp, #12]\n"                                                                      \
        "mov r9, r8\n"                                                                             \
        "mov r10, r8\n"                                                                            \
        "mov r12, r11\n"                                                                           \
        "mov lr, r11\n"                                                                            \
        "cmp r7, #0\n"                                                                             \
        "bne 3f\n"                                                                                 \
        "2:\n"                                                                                     \
        step                                                                                       \
        "3:\n"                                                                                     \
        step                                                                                       \
        "ldr r7, [sp, #8]\n"                                                                       \
        "cmp r0, r7\n"                                                                             \
        "bne 2b\n"                                                                                 \
        "ldr r7, [sp, #20]\n"                                                                      \
        "str r4, [sp, #4]\n"                                                                       \
        "ldrd r5, r6, [r7], #8\n"                                                                  \
        "str r7, [sp, #20]\n"                                                                      \
        MG_SCALED_3X2_S16                                                                          \
        "ldrd r6, r4, [sp, #40]\n"                                                                 \
        "cmp r6, #1\n"                                                                             \
        "bne 4f\n"                                                                                 \
        MG_SATURATED_3X2_S16("usat", "#15")                                                        \
        "b 5f\n"                                                                                   \
        "4:\n"                                                                                     \
        MG_SATURATED_3X2_S16("ssat", "#16")                                                        \
        "5:\n"                                                                                     \
        "pkhbt r8, r8, r11, lsl #16\n"                                                             \
        "pkhbt r9, r9, r12, lsl #16\n"                                                             \
        "pkhbt r10, r10, lr, lsl #16\n"                                                            \
        "ble 6f\n"                                                                                 \
        "ldrd r5, r6, [r4]\n"                                                                      \
        MG_LIMITED_3X2_S16("r8")                                                                   \
        MG_LIMITED_3X2_S16("r9")                                                                   \
        MG_LIMITED_3X2_S16("r10")                                                                  \
        "6:\n"                                                                                     \
        "ldrd r0, r1, [sp, #24]\n"                                                                 \
        "ldrd r2, r3, [sp, #32]\n"                                                                 \
        "str r10, [r0, r2]\n"                                                                      \
        "str r9, [r0, r1]\n"                                                                       \
        "str r8, [r0], #4\n"                                                                       \
        "subs r3, r3, #1\n"                                                                        \
        "str r0, [sp, #24]\n"                                                                      \
        "str r3, [sp, #36]\n"                                                                      \
        "bne 1b\n"                                                                                 \
        "add sp, sp, #48\n"                                                                        \
        "pop {r7, r11}"                                                                            \
        : "+r"(at)                                                                                 \
        :                                                                                          \
        : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "cc", "memory")

MG_INLINE void mg_tile_s16_compute(const mg_tile_s16 *tile, int form)
{
    register const mg_tile_s16 *at __asm__("r0") = tile;

    if (form == MG_TILE_BYTES) {
        MG_TILE_S16_ASSEMBLY(MG_STEP_3X2_S16);
    } else if (form == MG_TILE_WORDS) {
        MG_TILE_S16_ASSEMBLY(MG_WORDS_3X2_S16);
    } else {
        MG_TILE_S16_ASSEMBLY(MG_DOUBLES_3X2_S16);
    }
}

/* clang-format on */
#else
/* Two pairs of weights of a filter, from its next words on. */
MG_INLINE mg_four_s16 mg_tile_s16_weights(const int32_t *weights, int form)
{
    const uint32_t word = (uint32_t)weights[0];
    const mg_four_s16 four = {(form == MG_TILE_BYTES) ? mg_sxtb16(word) : word,
                              (form == MG_TILE_BYTES) ? mg_sxtb16_odd(word) : (uint32_t)weights[2]};
    return four;
}

/* The outputs of two channels of a pixel. */
MG_INLINE void mg_tile_s16_pixel(const mg_tile_s16 *tile, int form, const int16_t *values,
                                 const int32_t *weights, int32_t c, int16_t *output)
{
    int32_t sum_a = tile->bias[c];
    int32_t sum_b = tile->bias[c + 1];

    for (; values < tile->end; values += 2 * MG_TILE_PAIR_S16) {
        const uint32_t low = mg_load_2_s16(values);
        const uint32_t high = mg_load_2_s16(&values[MG_TILE_PAIR_S16]);
        const mg_four_s16 a = mg_tile_s16_weights(weights, form);
        const mg_four_s16 b = mg_tile_s16_weights(&weights[1], form);
        sum_a = mg_smlad(low, a.low, sum_a);
        sum_a = mg_smlad(high, a.high, sum_a);
        sum_b = mg_smlad(low, b.low, sum_b);
        sum_b = mg_smlad(high, b.high, sum_b);
        weights += (form == MG_TILE_BYTES) ? 2 : 4;
    }
    output[0] = mg_activated_s16(mg_smmulr(sum_a, tile->factor[c]), mg_low_s16(tile->limits->least),
                                 mg_low_s16(tile->limits->most));
    output[1] = mg_activated_s16(mg_smmulr(sum_b, tile->factor[c + 1]),
                                 mg_low_s16(tile->limits->least), mg_low_s16(tile->limits->most));
}

MG_INLINE void mg_tile_s16_compute(const mg_tile_s16 *tile, int form)
{
    const int32_t pairs = (int32_t)(tile->end - tile->windows) / MG_TILE_PAIR_S16;
    int16_t *output = tile->output;
    const int32_t *weights = tile->weights;

    for (int32_t c = 0; c < 2 * tile->pairs; c += 2) {
        mg_tile_s16_pixel(tile, form, &tile->windows[4], weights, c, &output[c + tile->third / 2]);
        mg_tile_s16_pixel(tile, form, &tile->windows[2], weights, c, &output[c + tile->second / 2]);
        mg_tile_s16_pixel(tile, form, tile->windows, weights, c, &output[c]);
        weights += (form == MG_TILE_BYTES) ? pairs : 2 * pairs;
    }
}
#endif

/* mg_tile_s16.clamp of an activation's limits. */
MG_INLINE int32_t mg_clamp_kind_s16(int32_t least, int32_t most)
{
    if (most != INT16_MAX) {
        return 2;
    }
    if (least == INT16_MIN) {
        return 0;
    }
    return (least == 0) ? 1 : 2;
}

/* Computes all channels of the first `count` pixels of a tile, 1 to 3. */
MG_INLINE void mg_tile_s16_channels(const mg_folded_s16 *folded, const int16_t *windows,
                                    int32_t count, const int32_t *weights, int32_t channels,
                                    int32_t words, int form, int16_t *output)
{
    const int32_t last = channels - channels % 2;
    const int32_t next = (int32_t)sizeof(int16_t) * channels;
    const mg_limits_s16 limits = {mg_twice_s16(folded->activation_min),
                                  mg_twice_s16(folded->activation_max)};
    mg_tile_s16 tile = {windows,
                        weights,
                        &windows[2 * words * MG_TILE_PAIR_S16],
                        words % 2,
                        folded->bias,
                        folded->factor,
                        output,
                        (count > 1) ? next : 0,
                        (count - 1) * next,
                        channels / 2,
                        mg_clamp_kind_s16(folded->activation_min, folded->activation_max),
                        &limits};

    if (last > 0) {
        mg_tile_s16_compute(&tile, form);
    }
    if (last < channels) { /* a channel without a neighbour */
        const int32_t bias[2] = {folded->bias[last], 0};
        const int32_t factor[2] = {folded->factor[last], 0};
        int16_t outputs[2 * MG_TILE_S16];
        tile.weights = &weights[last * words * ((form == MG_TILE_BYTES) ? 1 : 2)];
        tile.bias = bias;
        tile.factor = factor;
        tile.output = outputs;
        tile.second = 2 * (int32_t)sizeof(int16_t);
        tile.third = 2 * tile.second;
        tile.pairs = 1;
        mg_tile_s16_compute(&tile, form);
        for (int32_t k = 0; k < count; k++) {
            output[k * channels + last] = outputs[2 * k];
        }
    }
}

/* The same as a function that is compiled once. */
#define MG_TILES_S16(symbol, form)                                                                 \
    MG_ONCE void symbol(const mg_folded_s16 *folded, const int16_t *windows, int32_t count,        \
                        const int32_t *weights, int32_t channels, int32_t words, int16_t *output)  \
    {                                                                                              \
        mg_tile_s16_channels(folded, windows, count, weights, channels, words, form, output);      \
    }

MG_TILES_S16(mg_dsp_wide_tiles, MG_TILE_BYTES)
MG_TILES_S16(mg_dsp_words_tiles, MG_TILE_WORDS)
MG_TILES_S16(mg_dsp_doubles_tiles, MG_TILE_DOUBLES)

/* Computes a convolution's tiles. */
MG_INLINE void mg_conv2d_s16_in_tiles(const mg_conv2d_s16_params *p, const int16_t *input,
                                      const int32_t *weight, const int32_t *bias,
                                      const int32_t *factor, int form, int16_t *output,
                                      uint8_t *scratch)
{
    const mg_folded_s16 folded = {bias, factor, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;
    const int32_t pixels = s->batches * s->output_height * s->output_width;
    mg_spread_s16_tile tile = {(int16_t *)(void *)scratch,
                               mg_words_of_filter(s),
                               mg_whole_places(s->input_width, s->output_width, s->kernel_width,
                                               s->stride_width, s->dilation_width, s->pad_left),
                               {0, 0, 0}};

    mg_clear_tile_s16(&tile);
    for (int32_t i = 0; i < pixels; i += MG_TILE_S16) {
        const int32_t count = (pixels - i < MG_TILE_S16) ? (pixels - i) : MG_TILE_S16;
        mg_fill_tile_s16(s, &tile, input, count);
        int16_t *to = &output[i * s->output_channels];
        if (form == MG_TILE_BYTES) {
            mg_dsp_wide_tiles(&folded, tile.windows, count, weight, s->output_channels, tile.words,
                              to);
        } else if (form == MG_TILE_WORDS) {
            mg_dsp_words_tiles(&folded, tile.windows, count, weight, s->output_channels, tile.words,
                               to);
        } else {
            mg_dsp_doubles_tiles(&folded, tile.windows, count, weight, s->output_channels,
                                 tile.words, to);
        }
    }
}

/* Computes the same as mg_conv2d_s16_dsp, from the same arguments. scratch must have 6 bytes for
 * each weight of a filter, rounded up to a multiple of four weights. It must be aligned to 4 bytes.
 */
MG_DECLARE_CONV2D_S16_SCRATCH(mg_conv2d_s16_tiles_dsp, int32_t);

MG_BODY_FACTORED(mg_conv2d_s16_tiles_dsp, int32_t, uint8_t *scratch)
{
    mg_conv2d_s16_in_tiles(p, input, weight, bias, factor, MG_TILE_BYTES, output, scratch);
}

/* The same with weights in int16, in the order of MG_TILE_WORDS. */
MG_DECLARE_CONV2D_S16_SCRATCH(mg_conv2d_s16_words_dsp, int32_t);

MG_BODY_FACTORED(mg_conv2d_s16_words_dsp, int32_t, uint8_t *scratch)
{
    mg_conv2d_s16_in_tiles(p, input, weight, bias, factor, MG_TILE_WORDS, output, scratch);
}

/* The same for cores that issue two instructions at a time. */
MG_DECLARE_CONV2D_S16_SCRATCH(mg_conv2d_s16_doubles_dsp, int32_t);

MG_BODY_FACTORED(mg_conv2d_s16_doubles_dsp, int32_t, uint8_t *scratch)
{
    mg_conv2d_s16_in_tiles(p, input, weight, bias, factor, MG_TILE_DOUBLES, output, scratch);
}

#ifdef MG_TILES_S16_DSP_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_conv2d_s16_tiles_dsp, (p, input, weight, bias, factor, output, scratch),
               MG_ARGUMENTS_FACTORED(mg_conv2d_s16_tiles_dsp, int32_t), uint8_t *scratch)
MG_OUT_OF_LINE(mg_conv2d_s16_words_dsp, (p, input, weight, bias, factor, output, scratch),
               MG_ARGUMENTS_FACTORED(mg_conv2d_s16_words_dsp, int32_t), uint8_t *scratch)
MG_OUT_OF_LINE(mg_conv2d_s16_doubles_dsp, (p, input, weight, bias, factor, output, scratch),
               MG_ARGUMENTS_FACTORED(mg_conv2d_s16_doubles_dsp, int32_t), uint8_t *scratch)
#endif

#endif
