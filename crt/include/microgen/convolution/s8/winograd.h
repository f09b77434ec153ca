/* SPDX-License-Identifier: Apache-2.0 */
/* Winograd's F(2x2, 3x3) in integers, for the Arm DSP extension, or the same in plain C.
 *
 * A tile of 4x4 input values d and a filter g give 2x2 outputs:
 *
 *     4 y = A^T [ (2G g (2G)^T) * (B^T d B) ] A    (* multiplies element by element)
 *
 *           [1  0 -1  0]          [2  0  0]
 *     B^T = [0  1  1  0]     2G = [1  1  1]     A^T = [1  1  1  0]
 *           [0 -1  1  0]          [1 -1  1]           [0  1 -1 -1]
 *           [0  1  0 -1]          [0  0  2]
 *
 * (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2016, section 4.1, with 2G
 * instead of G, so that all entries are integers.) These are 16 multiplications for 4 outputs
 * instead of 36. Sums over the channels are taken before A, so A's cost does not depend on them.
 *
 * Nothing is rounded and nothing overflows. Entries of B^T d B are sums of four int8 values with
 * signs: 512 at most. Entries of 2G g (2G)^T are at most 9 * 128. The transform with A adds up nine
 * entries, so with MG_WINOGRAD_CHANNELS input channels no sum exceeds
 * 9 * 404 * 512 * 1152 = 2144600064 < 2^31. */
#ifndef MICROGEN_WINOGRAD_H
#define MICROGEN_WINOGRAD_H

#include <string.h>

#include "microgen/blocks/dsp.h"

/* Four tiles in a row, whose input is an area, are computed at a time, for two output channels at a
 * time. Input channels come in groups of four, which are two steps: the first has channels 0 and 2
 * of the group, and the second has 1 and 3. The last group has the last four channels, and the
 * weights of those that it has in common with the group before it are 0. There may be steps after
 * it whose weights are 0. */
enum {
    MG_WINOGRAD_CHANNELS = 404, /* input channels at most */
    MG_WINOGRAD_TILES = 4,
    MG_WINOGRAD_SIDE = 4,       /* rows, and columns, of a tile of the input */
    MG_WINOGRAD_COLUMNS = 10,   /* of the input under four tiles */
    MG_WINOGRAD_WIDTH = 8,      /* outputs in a row of four tiles */
    MG_WINOGRAD_STREAMS = 8,    /* words of a column: 4 rows of B^T d, even and odd channels */
    MG_WINOGRAD_WORDS = 64,     /* of a step: 16 positions, 4 tiles */
    MG_WINOGRAD_SUMS = 8,       /* 4 tiles, 2 output channels */
    MG_WINOGRAD_POSITIONS = 16, /* of a tile */
    MG_WINOGRAD_WEIGHTS = 32,   /* words of a step: 16 positions, 2 output channels */
    MG_WINOGRAD_TAPS = 9
};

/* The part of the input under four tiles. Columns before `first` and from `last` on are outside. */
typedef struct {
    const int8_t *row[MG_WINOGRAD_SIDE]; /* from column `first` on, or zero points */
    int32_t first;
    int32_t last;
} mg_winograd_area;

/* The number of steps, a multiple of four. */
MG_INLINE int32_t mg_winograd_steps(int32_t channels)
{
    return (channels + 7) / 8 * 4;
}

/* Sets the columns inside the input to B^T d of four channels, from channel c on. */
static __attribute__((noinline, unused)) void
mg_winograd_columns(const mg_winograd_area *area, int32_t c, int32_t channels, uint32_t *columns)
{
    const int8_t *a = area->row[0] + c;
    const int8_t *b = area->row[1] + c;
    const int8_t *d = area->row[2] + c;
    const int8_t *e = area->row[3] + c;
    const int32_t size = (area->last - area->first) * channels;
    uint32_t *t = &columns[area->first * MG_WINOGRAD_STREAMS];

    for (int32_t at = 0; at < size; at += channels, t += MG_WINOGRAD_STREAMS) {
        const uint32_t row_0 = mg_load_4_s8(a + at);
        const uint32_t row_1 = mg_load_4_s8(b + at);
        const uint32_t row_2 = mg_load_4_s8(d + at);
        const uint32_t row_3 = mg_load_4_s8(e + at);
        const uint32_t even_1 = mg_sxtb16(row_1);
        const uint32_t even_2 = mg_sxtb16(row_2);
        const uint32_t odd_1 = mg_sxtb16_odd(row_1);
        const uint32_t odd_2 = mg_sxtb16_odd(row_2);
        t[0] = mg_ssub16(mg_sxtb16(row_0), even_2);
        t[1] = mg_ssub16(mg_sxtb16_odd(row_0), odd_2);
        t[2] = mg_sadd16(even_1, even_2);
        t[3] = mg_sadd16(odd_1, odd_2);
        t[4] = mg_ssub16(even_2, even_1);
        t[5] = mg_ssub16(odd_2, odd_1);
        t[6] = mg_ssub16(even_1, mg_sxtb16(row_3));
        t[7] = mg_ssub16(odd_1, mg_sxtb16_odd(row_3));
    }
}

/* One tile's row of B^T d B from a row of its columns, whose words are `columns` and each eighth
 * word after it. */
MG_INLINE void mg_winograd_row(const uint32_t *MG_RESTRICT columns, uint32_t *MG_RESTRICT tile)
{
    const uint32_t a = columns[0];
    const uint32_t b = columns[MG_WINOGRAD_STREAMS];
    const uint32_t c = columns[2 * MG_WINOGRAD_STREAMS];
    const uint32_t d = columns[3 * MG_WINOGRAD_STREAMS];

    tile[0] = mg_ssub16(a, c);
    tile[4] = mg_sadd16(b, c);
    tile[8] = mg_ssub16(c, b);
    tile[12] = mg_ssub16(b, d);
}

/* Both steps of four channels, in all rows of four tiles. */
static __attribute__((noinline, unused)) void mg_winograd_rows(const uint32_t *columns,
                                                               uint32_t *tiles)
{
    for (int32_t stream = 0; stream < MG_WINOGRAD_STREAMS; stream++) {
        uint32_t *to = &tiles[stream / 2 * 16 + stream % 2 * MG_WINOGRAD_WORDS];
        mg_winograd_row(columns, to);
        mg_winograd_row(columns + 2 * MG_WINOGRAD_STREAMS, to + 1);
        mg_winograd_row(columns + 4 * MG_WINOGRAD_STREAMS, to + 2);
        mg_winograd_row(columns + 6 * MG_WINOGRAD_STREAMS, to + 3);
        columns++;
    }
}

/* 2G times three taps of two channels. */
typedef struct {
    uint32_t a, b, c, d;
} mg_winograd_quad;

MG_INLINE mg_winograd_quad mg_winograd_of_taps(uint32_t first, uint32_t middle, uint32_t last)
{
    const uint32_t outer = mg_sadd16(first, last);
    const mg_winograd_quad quad = {mg_sadd16(first, first), mg_sadd16(outer, middle),
                                   mg_ssub16(outer, middle), mg_sadd16(last, last)};
    return quad;
}

MG_INLINE void mg_winograd_put(mg_winograd_quad quad, uint32_t *weight)
{
    weight[0] = quad.a;
    weight[2] = quad.b;
    weight[4] = quad.c;
    weight[6] = quad.d;
}

/* A tap of a step: the even channels of a word, or the odd ones. */
MG_INLINE uint32_t mg_winograd_tap(int32_t word, int is_odd)
{
    return (is_odd != 0) ? mg_sxtb16_odd((uint32_t)word) : mg_sxtb16((uint32_t)word);
}

/* A column of the taps of a step. */
MG_INLINE mg_winograd_quad mg_winograd_of_three(const int32_t *taps, int is_odd)
{
    return mg_winograd_of_taps(mg_winograd_tap(taps[0], is_odd), mg_winograd_tap(taps[3], is_odd),
                               mg_winograd_tap(taps[6], is_odd));
}

/* (2G) g (2G)^T of one step, every other word of `weight`. */
MG_INLINE void mg_winograd_of_filter(const int32_t *MG_RESTRICT taps, uint32_t *MG_RESTRICT weight,
                                     int is_odd)
{
    const mg_winograd_quad left = mg_winograd_of_three(taps, is_odd);
    const mg_winograd_quad middle = mg_winograd_of_three(taps + 1, is_odd);
    const mg_winograd_quad right = mg_winograd_of_three(taps + 2, is_odd);

    mg_winograd_put(mg_winograd_of_taps(left.a, middle.a, right.a), weight);
    mg_winograd_put(mg_winograd_of_taps(left.b, middle.b, right.b), weight + 8);
    mg_winograd_put(mg_winograd_of_taps(left.c, middle.c, right.c), weight + 16);
    mg_winograd_put(mg_winograd_of_taps(left.d, middle.d, right.d), weight + 24);
}

/* The transformed weights of one filter, every other word of `weight`: [steps][16][2]. filter:
 * [steps / 2 groups][9 taps], each word 4 int8. */
static __attribute__((noinline, unused)) void mg_winograd_filter(const int32_t *filter,
                                                                 int32_t steps, uint32_t *weight)
{
    for (int32_t k = 0; k < steps; k += 2) {
        mg_winograd_of_filter(filter, weight, 0);
        mg_winograd_of_filter(filter, weight + MG_WINOGRAD_WEIGHTS, 1);
        filter += MG_WINOGRAD_TAPS;
        weight += 2 * MG_WINOGRAD_WEIGHTS;
    }
}

/* From C, GCC 12 loads tiles one by one and adds to both addresses in each step. With the assembly
 * a layer of 16 channels takes 20 % fewer cycles on Cortex-M4. Position-independent code may
 * reserve r9. */
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && !defined(__clang__) && !defined(__PIC__)

/* clang-format off */

/* The products of one step. The address of tiles is in r0, that of weights in r1, values in r2 and
 * r3, weights in r7 and lr, and the sums in r4 to r6 and r8 to r12. `add` ends the first part of an
 * operand list with a sum, or begins a comment, if the products start the sums. */
#define MG_WINOGRAD_STEP(mac, add)                                                                 \
    "ldrd r7, lr, [r1], #128\n"                                                                    \
    "ldrd r2, r3, [r0], #8\n"                                                                      \
    mac " r4, r2, r7" add "r4\n"                                                                   \
    mac " r5, r2, lr" add "r5\n"                                                                   \
    mac " r6, r3, r7" add "r6\n"                                                                   \
    mac " r8, r3, lr" add "r8\n"                                                                   \
    "ldrd r2, r3, [r0], #248\n"                                                                    \
    mac " r9, r2, r7" add "r9\n"                                                                   \
    mac " r10, r2, lr" add "r10\n"                                                                 \
    mac " r11, r3, r7" add "r11\n"                                                                 \
    mac " r12, r3, lr" add "r12\n"

/* Sums over the input channels at all positions, for two output channels: int32 [16][4 tiles][2].
 * tiles: [steps][16][4 tiles]. weight: [steps][16][2]. The number of steps is a multiple of four.
 * All registers are in use, r7 among them. */
static MG_NO_FRAME_POINTER void
mg_winograd_products(const uint32_t *tiles, const uint32_t *weight, int32_t steps, int32_t *sums)
{
    const int32_t *const sums_end = sums + MG_WINOGRAD_POSITIONS * MG_WINOGRAD_SUMS;
    const int32_t size = steps * MG_WINOGRAD_WORDS * (int32_t)sizeof(*tiles);
    const uint32_t *end = tiles + steps * MG_WINOGRAD_WORDS;

    __asm__ volatile(
        "ldr r0, %[tiles]\n"
        "ldr r1, %[weight]\n"
        "1:\n" /* a position */
        MG_WINOGRAD_STEP("smuad", " @")
        ".rept 3\n"
        MG_WINOGRAD_STEP("smlad", ", ")
        ".endr\n"
        "ldr r2, %[end]\n"
        "cmp r0, r2\n"
        "beq 3f\n"
        "2:\n"
        ".rept 4\n"
        MG_WINOGRAD_STEP("smlad", ", ")
        ".endr\n"
        "ldr r2, %[end]\n"
        "cmp r0, r2\n"
        "bne 2b\n"
        "3:\n"
        "ldr r2, %[sums]\n"
        "ldr r3, %[size]\n"
        "ldr r7, %[sums_end]\n"
        "adds r0, #16\n" /* the next position of the last step */
        "stmia r2!, {r4-r6, r8-r12}\n"
        "str r0, %[end]\n"
        "str r2, %[sums]\n"
        "subs r0, r0, r3\n"
        "sub r1, r1, r3, lsr #1\n"
        "adds r1, #8\n"
        "cmp r2, r7\n"
        "bne 1b\n"
        : [sums] "+m"(sums), [end] "+m"(end)
        : [tiles] "m"(tiles), [weight] "m"(weight), [size] "m"(size), [sums_end] "m"(sums_end)
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr",
          "memory", "cc");
}

/* clang-format on */

#else

/* Sums over the input channels at one position. */
MG_INLINE void mg_winograd_position(const uint32_t *tiles, const uint32_t *weight, int32_t steps,
                                    int32_t *sums)
{
    int32_t sum[MG_WINOGRAD_SUMS] = {0};

    for (int32_t k = 0; k < steps; k++) {
        sum[0] = mg_smlad(tiles[0], weight[0], sum[0]);
        sum[1] = mg_smlad(tiles[0], weight[1], sum[1]);
        sum[2] = mg_smlad(tiles[1], weight[0], sum[2]);
        sum[3] = mg_smlad(tiles[1], weight[1], sum[3]);
        sum[4] = mg_smlad(tiles[2], weight[0], sum[4]);
        sum[5] = mg_smlad(tiles[2], weight[1], sum[5]);
        sum[6] = mg_smlad(tiles[3], weight[0], sum[6]);
        sum[7] = mg_smlad(tiles[3], weight[1], sum[7]);
        tiles += MG_WINOGRAD_WORDS;
        weight += MG_WINOGRAD_WEIGHTS;
    }
    memcpy(sums, sum, sizeof(sum));
}

/* The same at all positions, for two output channels. */
static __attribute__((noinline, unused)) void
mg_winograd_products(const uint32_t *tiles, const uint32_t *weight, int32_t steps, int32_t *sums)
{
    for (int32_t at = 0; at < MG_WINOGRAD_POSITIONS; at++) {
        mg_winograd_position(tiles, weight, steps, sums);
        tiles += MG_WINOGRAD_TILES;
        weight += 2;
        sums += MG_WINOGRAD_SUMS;
    }
}

#endif

/* Two sums of a column with a row of A^T each. */
typedef struct {
    int32_t first;
    int32_t second;
} mg_winograd_pair;

/* A^T times four values. */
MG_INLINE mg_winograd_pair mg_winograd_outputs(int32_t a, int32_t b, int32_t c, int32_t d)
{
    const mg_winograd_pair pair = {a + b + c, b - c - d};
    return pair;
}

/* A^T times one column of a tile's sums. */
MG_INLINE mg_winograd_pair mg_winograd_of_column(const int32_t *sums)
{
    return mg_winograd_outputs(sums[0], sums[4 * MG_WINOGRAD_SUMS], sums[8 * MG_WINOGRAD_SUMS],
                               sums[12 * MG_WINOGRAD_SUMS]);
}

#endif
