/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution with 3x3 filters and stride 1, int8, by Winograd's F(2x2, 3x3) in integers, for
 * the Arm DSP extension.
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
#ifndef MICROGEN_CONV2D_WINOGRAD_S8_H
#define MICROGEN_CONV2D_WINOGRAD_S8_H

#include <stdint.h>
#include <string.h>

#include "microgen/conv2d_s8.h"
#include "microgen/dsp.h"
#include "microgen/inline.h"
#include "microgen/out_of_line.h"
#include "microgen/scaling_s8.h"
#include "microgen/window.h"

typedef mg_conv2d_s8_params mg_conv2d_winograd_s8_params;

/* Four tiles in a row are computed at a time, two output channels at a time. */
enum {
    MG_WINOGRAD_CHANNELS = 404, /* input channels at most */
    MG_WINOGRAD_TILES = 4,
    MG_WINOGRAD_SIDE = 4,      /* rows, and columns, of a tile of the input */
    MG_WINOGRAD_COLUMNS = 10,  /* of the input under four tiles */
    MG_WINOGRAD_WIDTH = 8,     /* outputs in a row of four tiles */
    MG_WINOGRAD_STREAMS = 8,   /* words of a column: 4 rows of B^T d, even and odd channels */
    MG_WINOGRAD_WORDS = 64,    /* of a step: 16 positions, 4 tiles */
    MG_WINOGRAD_SUMS = 8,      /* 4 tiles, 2 output channels */
    MG_WINOGRAD_POSITIONS = 16 /* of a tile */
};

/* The scratch memory. A step is two input channels. Input channels come in groups of four, whose
 * first step has channels 0 and 2, and whose second has 1 and 3. The last group has the last four
 * channels, and there may be steps after it whose weights are 0. */
typedef struct {
    int32_t *sums;     /* [16 positions][4 tiles][2 channels] */
    uint32_t *columns; /* [10][8], in the same place: B^T d of four channels */
    uint32_t *tiles;   /* [steps][16 positions][4 tiles]: B^T d B */
    int8_t *zeros;     /* [10 * input_channels]: zero points */
} mg_winograd_memory;

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

MG_INLINE mg_winograd_memory mg_winograd_lay_out(const mg_conv2d_winograd_s8_params *p,
                                                 uint8_t *scratch)
{
    mg_winograd_memory m;

    m.sums = (int32_t *)(void *)scratch;
    m.columns = (uint32_t *)(void *)scratch;
    m.tiles = &m.columns[MG_WINOGRAD_POSITIONS * MG_WINOGRAD_SUMS];
    m.zeros =
        (int8_t *)&m
            .tiles[MG_WINOGRAD_SIDE * MG_WINOGRAD_WORDS * mg_winograd_steps(p->input_channels)];
    memset(m.zeros, -p->input_offset, (size_t)(MG_WINOGRAD_COLUMNS * p->input_channels));
    return m;
}

/* Finds the area whose first row is `top` and whose first column is `left`, and sets the columns
 * outside the input. They are the same for all channels: B^T times four zero points. */
MG_INLINE mg_winograd_area mg_winograd_find(const mg_conv2d_winograd_s8_params *p,
                                            const int8_t *input, int32_t n, int32_t top,
                                            int32_t left, const mg_winograd_memory *m)
{
    const mg_taps columns = mg_taps_inside(left, MG_WINOGRAD_COLUMNS, 1, p->input_width);
    const uint32_t twice = mg_twice_s16(-2 * p->input_offset);
    mg_winograd_area area = {{m->zeros, m->zeros, m->zeros, m->zeros}, 0, 0};

    if (columns.begin < columns.end) {
        area.first = columns.begin;
        area.last = columns.end;
        for (int32_t r = 0; r < MG_WINOGRAD_SIDE; r++) {
            if ((top + r >= 0) && (top + r < p->input_height)) {
                area.row[r] = &input[mg_nhwc(n, top + r, left + area.first, p->input_height,
                                             p->input_width, p->input_channels)];
            }
        }
    }
    for (int32_t x = 0; x < MG_WINOGRAD_COLUMNS; x++) {
        if ((x < area.first) || (x >= area.last)) {
            uint32_t *t = &m->columns[x * MG_WINOGRAD_STREAMS];
            memset(t, 0, MG_WINOGRAD_STREAMS * sizeof(*t));
            t[2] = twice;
            t[3] = twice;
        }
    }
    return area;
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
MG_INLINE void mg_winograd_row(const uint32_t *restrict columns, uint32_t *restrict tile)
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

/* Fills m->tiles for the area. */
MG_INLINE void mg_winograd_transform(const mg_winograd_area *area, int32_t channels,
                                     const mg_winograd_memory *m)
{
    uint32_t *tiles = m->tiles;

    for (int32_t c = 0; c < channels; c += 4) {
        mg_winograd_columns(area, (c + 4 <= channels) ? c : channels - 4, channels, m->columns);
        mg_winograd_rows(m->columns, tiles);
        tiles += 2 * MG_WINOGRAD_WORDS;
    }
}

/* GCC keeps no more than six of the eight sums in registers, because it moves loads forward. */
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && !defined(__clang__)

/* The products of one step. Tiles are in r0, input in r2 and r3, weights in r1, r7 and lr, and the
 * sums in r4 to r12. `add` ends the first part of an operand list with a sum, or begins a comment,
 * if the products start the sums. */
#define MG_WINOGRAD_STEP(mac, add)                                                                 \
    "ldrd r7, lr, [r1], #8\n"                                                                      \
    "ldrd r2, r3, [r0], #8\n" mac " r4, r2, r7" add "r4\n" mac " r5, r2, lr" add "r5\n" mac        \
    " r6, r3, r7" add "r6\n" mac " r8, r3, lr" add "r8\n"                                          \
    "ldrd r2, r3, [r0], #248\n" mac " r9, r2, r7" add "r9\n" mac " r10, r2, lr" add "r10\n" mac    \
    " r11, r3, r7" add "r11\n" mac " r12, r3, lr" add "r12\n"
#define MG_WINOGRAD_STEPS(n, mac, add) ".rept " n "\n" MG_WINOGRAD_STEP(mac, add) ".endr\n"

/* Sums over the input channels at all positions, for two output channels. */
static __attribute__((noinline, unused)) void
mg_winograd_products(const uint32_t *tiles, const int32_t *weight, int32_t steps, int32_t *sums)
{
    const int32_t *const sums_end = sums + MG_WINOGRAD_POSITIONS * MG_WINOGRAD_SUMS;
    const int32_t size = steps * MG_WINOGRAD_WORDS * (int32_t)sizeof(*tiles);
    const uint32_t *end = tiles + steps * MG_WINOGRAD_WORDS;

    __asm__ volatile(
        "ldr r0, %[tiles]\n"
        "ldr r1, %[weight]\n"
        "1:\n" MG_WINOGRAD_STEPS("1", "smuad", " @") MG_WINOGRAD_STEPS(
            "3", "smlad", ", ") "ldr r2, %[end]\n"
                                "cmp r0, r2\n"
                                "beq 3f\n"
                                "2:\n" MG_WINOGRAD_STEPS("4", "smlad",
                                                         ", ") "ldr r2, %[end]\n"
                                                               "cmp r0, r2\n"
                                                               "bne 2b\n"
                                                               "3:\n"
                                                               "ldr r2, %[sums]\n"
                                                               "ldr r3, %[size]\n"
                                                               "ldr r7, %[sums_end]\n"
                                                               "adds r0, #16\n"
                                                               "stmia r2!, {r4-r6, r8-r12}\n"
                                                               "str r0, %[end]\n"
                                                               "str r2, %[sums]\n"
                                                               "subs r0, r0, r3\n"
                                                               "cmp r2, r7\n"
                                                               "bne 1b\n"
        : [sums] "+m"(sums), [end] "+m"(end)
        : [tiles] "m"(tiles), [weight] "m"(weight), [size] "m"(size), [sums_end] "m"(sums_end)
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr",
          "memory", "cc");
}

#else

/* Sums over the input channels at all positions, for two output channels. */
static __attribute__((noinline, unused)) void
mg_winograd_products(const uint32_t *tiles, const int32_t *weight, int32_t steps, int32_t *sums)
{
    for (int32_t at = 0; at < MG_WINOGRAD_POSITIONS; at++) {
        memset(sums, 0, MG_WINOGRAD_SUMS * sizeof(*sums));
        for (int32_t k = 0; k < steps; k++) {
            const uint32_t *values = &tiles[k * MG_WINOGRAD_WORDS + at * MG_WINOGRAD_TILES];
            for (int32_t t = 0; t < MG_WINOGRAD_TILES; t++) {
                sums[2 * t] = mg_smlad(values[t], (uint32_t)weight[0], sums[2 * t]);
                sums[2 * t + 1] = mg_smlad(values[t], (uint32_t)weight[1], sums[2 * t + 1]);
            }
            weight += 2;
        }
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

/* Where the outputs of a tile are. A step is 0 if there is no next row or column. */
typedef struct {
    int8_t *output;
    int32_t next_row;
    int32_t next_column;
} mg_winograd_place;

/* Stores the outputs of a tile. Those outside the tensor have the place of others, which are stored
 * later. */
MG_INLINE void mg_winograd_store(const mg_scaling *scaling, const mg_channel *channel,
                                 const int32_t *sums, const mg_winograd_place *place,
                                 int requantization)
{
    const mg_winograd_pair a = mg_winograd_of_column(sums);
    const mg_winograd_pair b = mg_winograd_of_column(sums + MG_WINOGRAD_SUMS);
    const mg_winograd_pair c = mg_winograd_of_column(sums + 2 * MG_WINOGRAD_SUMS);
    const mg_winograd_pair d = mg_winograd_of_column(sums + 3 * MG_WINOGRAD_SUMS);
    const mg_winograd_pair top = mg_winograd_outputs(a.first, b.first, c.first, d.first);
    const mg_winograd_pair bottom = mg_winograd_outputs(a.second, b.second, c.second, d.second);
    int8_t *out = place->output;
    int8_t *below = out + place->next_row;

    below[place->next_column] = mg_output_of_4(scaling, channel, bottom.second, requantization);
    below[0] = mg_output_of_4(scaling, channel, bottom.first, requantization);
    out[place->next_column] = mg_output_of_4(scaling, channel, top.second, requantization);
    out[0] = mg_output_of_4(scaling, channel, top.first, requantization);
}

/* Stores the outputs of one channel, of tiles with `width` columns together. `row` is 0 if there is
 * no second row. */
MG_INLINE void mg_winograd_finish(const mg_conv2d_winograd_s8_params *p, const mg_scaling *scaling,
                                  const mg_channel *channel, const int32_t *sums, int8_t *output,
                                  int32_t width, int32_t row, int requantization)
{
    mg_winograd_place place = {output, row, p->output_channels};

    for (int32_t x = 0; x < width; x += 2) {
        place.next_column = (x + 1 < width) ? p->output_channels : 0;
        mg_winograd_store(scaling, channel, sums, &place, requantization);
        place.output += 2 * p->output_channels;
        sums += 2;
    }
}

/* Computes the same as mg_conv2d_s8_body with the same arguments, except for two:
 *
 * - weight: int32 [(output_channels + 1) / 2][16 positions][steps][2 channels], each word with the
 *   transformed weights of a step's two input channels, as int16, the first in the lower half. The
 *   positions of a tile are in row-major order.
 * - bias, and offsets for MG_LINEAR: those of raw sums, see scaling_s8.h.
 *
 * The filters are 3x3, strides and dilations 1, and there is one group, of at least 4 and at most
 * MG_WINOGRAD_CHANNELS input channels. scratch must be aligned to 4 and have
 * 512 + 256 * steps + 10 * input_channels bytes. */
MG_INLINE void mg_conv2d_winograd_s8_body(const mg_conv2d_winograd_s8_params *p,
                                          const int8_t *input, const int32_t *weight,
                                          const int32_t *bias, const int32_t *multiplier,
                                          const int8_t *shift, void *output, uint8_t *scratch,
                                          int requantization)
{
    const mg_scaling scaling = {multiplier, shift, p->output_offset, p->activation_min,
                                p->activation_max};
    const mg_winograd_memory m = mg_winograd_lay_out(p, scratch);
    const int32_t steps = mg_winograd_steps(p->input_channels);
    const int32_t channels = p->output_channels;

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y += 2) {
            const int32_t row = (y + 1 < p->output_height) ? p->output_width * channels : 0;
            for (int32_t x = 0; x < p->output_width; x += MG_WINOGRAD_WIDTH) {
                const mg_winograd_area area =
                    mg_winograd_find(p, input, n, y - p->pad_top, x - p->pad_left, &m);
                const int32_t left = p->output_width - x;
                const int32_t width = (left < MG_WINOGRAD_WIDTH) ? left : MG_WINOGRAD_WIDTH;
                int8_t *out = (int8_t *)output +
                              mg_nhwc(n, y, x, p->output_height, p->output_width, channels);
                mg_winograd_transform(&area, p->input_channels, &m);
                for (int32_t c = 0; c < channels; c++) {
                    const mg_channel channel = mg_channel_of(&scaling, bias, c, requantization);
                    if (c % 2 == 0) {
                        mg_winograd_products(m.tiles, &weight[c * MG_WINOGRAD_POSITIONS * steps],
                                             steps, m.sums);
                    }
                    mg_winograd_finish(p, &scaling, &channel, &m.sums[c % 2], &out[c], width, row,
                                       requantization);
                }
            }
        }
    }
}

#define MG_CONV2D_WINOGRAD_S8_PROTOTYPE(name)                                                      \
    MG_PROTOTYPE_SCRATCH(name, mg_conv2d_winograd_s8, int32_t)
#define MG_CONV2D_WINOGRAD_S8_KERNEL(name, ...)                                                    \
    MG_KERNEL_SCRATCH(name, mg_conv2d_winograd_s8, int32_t, __VA_ARGS__)

#endif
