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
    MG_WINOGRAD_SIDE = 4,       /* rows, and columns, of a tile of the input */
    MG_WINOGRAD_COLUMNS = 10,   /* of the input under four tiles */
    MG_WINOGRAD_WIDTH = 8,      /* outputs in a row of four tiles */
    MG_WINOGRAD_STREAMS = 8,    /* words of a column: 4 rows of B^T d, even and odd channels */
    MG_WINOGRAD_WORDS = 16,     /* of a step in a row of tiles: 4 columns of B^T d B, 4 tiles */
    MG_WINOGRAD_SUMS = 8,       /* 4 tiles, 2 output channels */
    MG_WINOGRAD_POSITIONS = 16  /* of a tile */
};

/* The scratch memory. A step is two input channels. Input channels come in groups of four, whose
 * first step has channels 0 and 2, and whose second has 1 and 3. The last group has the last four
 * channels, and there may be steps after it whose weights are 0. */
typedef struct {
    int32_t *sums;     /* [16 positions][4 tiles][2 channels] */
    uint32_t *columns; /* [10][8], in the same place: B^T d of four channels */
    uint32_t *tiles;   /* [4 rows][steps][4 columns][4 tiles]: B^T d B */
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
    m.zeros = (int8_t *)&m.tiles[MG_WINOGRAD_SIDE * MG_WINOGRAD_WORDS *
                                 mg_winograd_steps(p->input_channels)];
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
mg_winograd_columns(const mg_winograd_area *area, int32_t c, int32_t channels,
                       uint32_t *columns)
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

/* Four tiles' row of B^T d B from a row of the ten columns, whose words are `columns` and each
 * eighth word after it. */
MG_INLINE void mg_winograd_row(const uint32_t *columns, uint32_t *tiles)
{
    const uint32_t *t = columns;
    uint32_t even = t[0];
    uint32_t odd = t[MG_WINOGRAD_STREAMS];

    for (int32_t tile = 0; tile < MG_WINOGRAD_SIDE; tile++) {
        const uint32_t next_even = t[2 * MG_WINOGRAD_STREAMS];
        const uint32_t next_odd = t[3 * MG_WINOGRAD_STREAMS];
        tiles[tile] = mg_ssub16(even, next_even);
        tiles[4 + tile] = mg_sadd16(odd, next_even);
        tiles[8 + tile] = mg_ssub16(next_even, odd);
        tiles[12 + tile] = mg_ssub16(odd, next_odd);
        even = next_even;
        odd = next_odd;
        t += 2 * MG_WINOGRAD_STREAMS;
    }
}

/* Both steps of four channels, in all four rows. Rows are `next_row` words apart. */
static __attribute__((noinline, unused)) void mg_winograd_rows(const uint32_t *columns,
                                                                  uint32_t *tiles, int32_t next_row)
{
    for (int32_t row = 0; row < MG_WINOGRAD_SIDE; row++) {
        mg_winograd_row(columns, tiles);
        mg_winograd_row(columns + 1, tiles + MG_WINOGRAD_WORDS);
        columns += 2;
        tiles += next_row;
    }
}

/* Fills m->tiles for the area. */
MG_INLINE void mg_winograd_transform(const mg_winograd_area *area, int32_t channels,
                                        const mg_winograd_memory *m)
{
    uint32_t *tiles = m->tiles;

    for (int32_t c = 0; c < channels; c += 4) {
        mg_winograd_columns(area, (c + 4 <= channels) ? c : channels - 4, channels, m->columns);
        mg_winograd_rows(m->columns, tiles, mg_winograd_steps(channels) * MG_WINOGRAD_WORDS);
        tiles += 2 * MG_WINOGRAD_WORDS;
    }
}

/* The sums over all steps at one position: 4 tiles, for each two output channels. */
typedef struct {
    int32_t a0, b0, a1, b1, a2, b2, a3, b3;
} mg_winograd_block;

/* GCC keeps no more than six of the eight sums in registers, because it moves loads forward. */
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && !defined(__clang__)

/* Products of the first two tiles, or of the last two. `add` ends the first part of an operand
 * list with an accumulator, or begins a comment. */
#define MG_WINOGRAD_FIRST(mac, add)                                                                \
    mac " %[a0], %[x], %[u]" add "%[a0]\n" mac " %[b0], %[x], %[v]" add "%[b0]\n"                  \
    mac " %[a1], %[y], %[u]" add "%[a1]\n" mac " %[b1], %[y], %[v]" add "%[b1]\n"
#define MG_WINOGRAD_LAST(mac, add)                                                                 \
    mac " %[a2], %[x], %[u]" add "%[a2]\n" mac " %[b2], %[x], %[v]" add "%[b2]\n"                  \
    mac " %[a3], %[y], %[u]" add "%[a3]\n" mac " %[b3], %[y], %[v]" add "%[b3]\n"
#define MG_WINOGRAD_STEP(mac, add)                                                                 \
    "ldrd %[u], %[v], [%[weight]], #8\n"                                                           \
    "ldrd %[x], %[y], [%[tiles]], #8\n"                                                            \
    MG_WINOGRAD_FIRST(mac, add)                                                                    \
    "ldrd %[x], %[y], [%[tiles]], #56\n"                                                           \
    MG_WINOGRAD_LAST(mac, add)
#define MG_WINOGRAD_STEPS(n, mac, add) ".rept " n "\n" MG_WINOGRAD_STEP(mac, add) ".endr\n"

MG_INLINE const int32_t *mg_winograd_dot(mg_winograd_block *s, const uint32_t *tiles,
                                            const int32_t *weight, int32_t steps)
{
    const int32_t *const end = weight + 2 * steps;
    uint32_t u;
    uint32_t v;
    uint32_t x;
    uint32_t y;

    __asm__ volatile(
        /* The first four steps; their first products start the sums. */
        MG_WINOGRAD_STEPS("1", "smuad", " @")
        MG_WINOGRAD_STEPS("3", "smlad", ", ")
        "ldr %[u], %[end]\n"
        "cmp %[weight], %[u]\n"
        "beq 2f\n"
        "1:\n"
        MG_WINOGRAD_STEPS("4", "smlad", ", ")
        "ldr %[u], %[end]\n"
        "cmp %[weight], %[u]\n"
        "bne 1b\n"
        "2:\n"
        : [a0] "=&r"(s->a0), [b0] "=&r"(s->b0), [a1] "=&r"(s->a1), [b1] "=&r"(s->b1),
          [a2] "=&r"(s->a2), [b2] "=&r"(s->b2), [a3] "=&r"(s->a3), [b3] "=&r"(s->b3),
          [u] "=&r"(u), [v] "=&r"(v), [x] "=&r"(x), [y] "=&r"(y), [tiles] "+r"(tiles),
          [weight] "+r"(weight)
        : [end] "m"(end)
        : "memory", "cc");
    return weight;
}

#else

/* Returns the address after the weights. */
MG_INLINE const int32_t *mg_winograd_dot(mg_winograd_block *s, const uint32_t *tiles,
                                            const int32_t *weight, int32_t steps)
{
    const mg_winograd_block zero = {0, 0, 0, 0, 0, 0, 0, 0};

    *s = zero;
    for (int32_t k = 0; k < steps; k++) {
        const uint32_t u = (uint32_t)weight[0];
        const uint32_t v = (uint32_t)weight[1];
        s->a0 = mg_smlad(tiles[0], u, s->a0);
        s->b0 = mg_smlad(tiles[0], v, s->b0);
        s->a1 = mg_smlad(tiles[1], u, s->a1);
        s->b1 = mg_smlad(tiles[1], v, s->b1);
        s->a2 = mg_smlad(tiles[2], u, s->a2);
        s->b2 = mg_smlad(tiles[2], v, s->b2);
        s->a3 = mg_smlad(tiles[3], u, s->a3);
        s->b3 = mg_smlad(tiles[3], v, s->b3);
        tiles += MG_WINOGRAD_WORDS;
        weight += 2;
    }
    return weight;
}

#endif

/* Sums over the input channels at all positions, for two output channels. */
static __attribute__((noinline, unused)) void
mg_winograd_products(const uint32_t *tiles, const int32_t *weight, int32_t steps, int32_t *sums)
{
    mg_winograd_block block;

    for (int32_t row = 0; row < MG_WINOGRAD_SIDE; row++) {
        for (int32_t column = 0; column < MG_WINOGRAD_SIDE; column++) {
            weight = mg_winograd_dot(&block, &tiles[column * 4], weight, steps);
            sums[0] = block.a0;
            sums[1] = block.b0;
            sums[2] = block.a1;
            sums[3] = block.b1;
            sums[4] = block.a2;
            sums[5] = block.b2;
            sums[6] = block.a3;
            sums[7] = block.b3;
            sums += MG_WINOGRAD_SUMS;
        }
        tiles += steps * MG_WINOGRAD_WORDS;
    }
}

/* A row of two outputs, times four, of a tile whose sums have been transformed along the columns:
 * s * A. */
typedef struct {
    int32_t left;
    int32_t right;
} mg_winograd_pair;

MG_INLINE mg_winograd_pair mg_winograd_outputs(int32_t a, int32_t b, int32_t c, int32_t d)
{
    const mg_winograd_pair pair = {a + b + c, b - c - d};
    return pair;
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
    mg_winograd_pair column[MG_WINOGRAD_SIDE];

    for (int32_t x = 0; x < MG_WINOGRAD_SIDE; x++) {
        const int32_t *s = &sums[x * MG_WINOGRAD_SUMS];
        column[x] = mg_winograd_outputs(
            s[0], s[4 * MG_WINOGRAD_SUMS], s[8 * MG_WINOGRAD_SUMS], s[12 * MG_WINOGRAD_SUMS]);
    }
    const mg_winograd_pair top = mg_winograd_outputs(column[0].left, column[1].left,
                                                           column[2].left, column[3].left);
    const mg_winograd_pair bottom = mg_winograd_outputs(column[0].right, column[1].right,
                                                              column[2].right, column[3].right);
    int8_t *out = place->output;
    int8_t *below = out + place->next_row;
    below[place->next_column] = mg_output_of_4(scaling, channel, bottom.right, requantization);
    below[0] = mg_output_of_4(scaling, channel, bottom.left, requantization);
    out[place->next_column] = mg_output_of_4(scaling, channel, top.right, requantization);
    out[0] = mg_output_of_4(scaling, channel, top.left, requantization);
}

/* Stores the outputs of one channel, of tiles with `width` columns together. `row` is 0 if there is
 * no second row. */
MG_INLINE void mg_winograd_finish(const mg_conv2d_winograd_s8_params *p,
                                     const mg_scaling *scaling, const mg_channel *channel,
                                     const int32_t *sums, int8_t *output, int32_t width,
                                     int32_t row, int requantization)
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
                        mg_winograd_products(
                            m.tiles, &weight[c * MG_WINOGRAD_POSITIONS * steps], steps, m.sums);
                    }
                    mg_winograd_finish(p, &scaling, &channel, &m.sums[c % 2], &out[c], width,
                                          row, requantization);
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
