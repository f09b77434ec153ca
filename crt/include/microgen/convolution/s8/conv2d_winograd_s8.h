/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of one group with 3x3 filters and stride 1, int8, by Winograd's F(2x2, 3x3). */
#ifndef MICROGEN_CONV2D_WINOGRAD_S8_H
#define MICROGEN_CONV2D_WINOGRAD_S8_H

#include <string.h>

#include "microgen/blocks/dsp.h"
#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/convolution/s8/winograd.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

typedef mg_conv2d_s8_params mg_conv2d_winograd_s8_params;

/* The forms of the weights. Transformed ones take 32 bytes for 9 in flash. The others are
 * transformed by the kernel, once for several areas, whose inputs must all be in the scratch
 * memory. */
enum {
    MG_WINOGRAD_TRANSFORMED, /* int32 [(output_channels + 1) / 2][steps][16][2] */
    MG_WINOGRAD_FILTERS /* int32 [(output_channels + 1) / 2][2][steps / 2][9], each word 4 int8 */
};

enum {
    MG_WINOGRAD_AREAS = 4
}; /* at most */

/* The scratch memory. */
typedef struct {
    int32_t *sums;     /* [16 positions][4 tiles][2 channels] */
    uint32_t *columns; /* [10][8], in the same place: B^T d of four channels */
    uint32_t *weights; /* [steps][16][2], if the kernel transforms them */
    uint32_t *tiles;   /* [areas][steps][16 positions][4 tiles]: B^T d B */
    int8_t *zeros;     /* [10 * input_channels]: zero points */
} mg_winograd_memory;

MG_INLINE mg_winograd_memory mg_winograd_lay_out(const mg_conv2d_winograd_s8_params *p,
                                                 uint8_t *scratch, int form, int32_t areas)
{
    const int32_t steps = mg_winograd_steps(p->input_channels);
    mg_winograd_memory m;

    m.sums = (int32_t *)(void *)scratch;
    m.columns = (uint32_t *)(void *)scratch;
    m.weights = &m.columns[MG_WINOGRAD_POSITIONS * MG_WINOGRAD_SUMS];
    m.tiles = &m.weights[(form == MG_WINOGRAD_FILTERS) ? MG_WINOGRAD_WEIGHTS * steps : 0];
    m.zeros = (int8_t *)&m.tiles[areas * MG_WINOGRAD_WORDS * steps];
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

/* Sets `tiles` to B^T d B for the area. */
MG_INLINE void mg_winograd_transform(const mg_winograd_area *area, int32_t channels,
                                     uint32_t *columns, uint32_t *tiles)
{
    for (int32_t c = 0; c < channels; c += 4) {
        mg_winograd_columns(area, (c + 4 <= channels) ? c : channels - 4, channels, columns);
        mg_winograd_rows(columns, tiles);
        tiles += 2 * MG_WINOGRAD_WORDS;
    }
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

/* The outputs of an area: the first, how many columns there are, and the step to the second row, 0
 * if there is none. */
typedef struct {
    int8_t *output;
    int32_t width;
    int32_t next_row;
} mg_winograd_target;

/* Stores the outputs of channel c. */
MG_INLINE void mg_winograd_finish(const mg_conv2d_winograd_s8_params *p, const mg_scaling *scaling,
                                  const mg_channel *channel, const int32_t *sums,
                                  const mg_winograd_target *target, int32_t c, int requantization)
{
    const int has_pairs = (p->output_width % 2 == 0) ? 1 : 0;
    const int32_t width = target->width;
    mg_winograd_place place = {target->output + c, target->next_row, p->output_channels};

    for (int32_t x = 0; x < width; x += 2) {
        place.next_column = ((has_pairs != 0) || (x + 1 < width)) ? p->output_channels : 0;
        mg_winograd_store(scaling, channel, sums, &place, requantization);
        place.output += 2 * p->output_channels;
        sums += 2;
    }
}

/* Prepares the tiles of the area with number `index`, and returns where its outputs are. */
MG_INLINE mg_winograd_target mg_winograd_enter(const mg_conv2d_winograd_s8_params *p,
                                               const int8_t *input, int8_t *output, int32_t index,
                                               const mg_winograd_memory *m, uint32_t *tiles)
{
    const int32_t across = (p->output_width + MG_WINOGRAD_WIDTH - 1) / MG_WINOGRAD_WIDTH;
    const int32_t down = (p->output_height + 1) / 2;
    const int32_t n = index / (across * down);
    const int32_t y = index / across % down * 2;
    const int32_t x = index % across * MG_WINOGRAD_WIDTH;
    const int32_t left = p->output_width - x;
    const mg_winograd_area area = mg_winograd_find(p, input, n, y - p->pad_top, x - p->pad_left, m);
    const mg_winograd_target target = {
        output + mg_nhwc(n, y, x, p->output_height, p->output_width, p->output_channels),
        (left < MG_WINOGRAD_WIDTH) ? left : MG_WINOGRAD_WIDTH,
        (y + 1 < p->output_height) ? p->output_width * p->output_channels : 0};

    mg_winograd_transform(&area, p->input_channels, m->columns, tiles);
    return target;
}

/* The transformed weights of channels c and c + 1. */
MG_INLINE const uint32_t *mg_winograd_weights(const int32_t *weight, int32_t c, int32_t steps,
                                              const mg_winograd_memory *m, int form)
{
    const int32_t size = steps / 2 * MG_WINOGRAD_TAPS;

    if (form == MG_WINOGRAD_TRANSFORMED) {
        return (const uint32_t *)&weight[c * MG_WINOGRAD_POSITIONS * steps];
    }
    mg_winograd_filter(&weight[c * size], steps, m->weights);
    mg_winograd_filter(&weight[(c + 1) * size], steps, m->weights + 1);
    return m->weights;
}

/* Computes the same as mg_conv2d_s8_body with the same arguments, except for two:
 *
 * - weight: as `form` says. Where there is no output channel, weights are 0. Transformed weights
 * are words of a step's two input channels, int16, the first in the lower half; positions are in
 *   row-major order.
 * - bias: that of raw sums, see scaling_s8.h.
 *
 * The filters are 3x3, strides and dilations 1, and there is one group, of at least 4 and at most
 * MG_WINOGRAD_CHANNELS input channels. `areas` are computed with the same weights, 1 if these are
 * transformed. scratch must be aligned to 4 and have 512 + 256 * steps * areas + 10 *
 * input_channels bytes, and 128 * steps more for MG_WINOGRAD_FILTERS. */
MG_BODY(mg_conv2d_winograd_s8, int32_t, uint8_t *scratch, int form, int32_t areas,
        int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const mg_winograd_memory m = mg_winograd_lay_out(p, scratch, form, areas);
    const int32_t steps = mg_winograd_steps(p->input_channels);
    const int32_t count = p->batches * ((p->output_height + 1) / 2) *
                          ((p->output_width + MG_WINOGRAD_WIDTH - 1) / MG_WINOGRAD_WIDTH);
    mg_winograd_target target[MG_WINOGRAD_AREAS];

    for (int32_t first = 0; first < count; first += areas) {
        const int32_t here = (count - first < areas) ? count - first : areas;
        for (int32_t a = 0; a < here; a++) {
            target[a] = mg_winograd_enter(p, input, (int8_t *)output, first + a, &m,
                                          &m.tiles[a * MG_WINOGRAD_WORDS * steps]);
        }
        for (int32_t c = 0; c < p->output_channels; c += 2) {
            const uint32_t *transformed = mg_winograd_weights(weight, c, steps, &m, form);
            for (int32_t a = 0; a < here; a++) {
                mg_winograd_products(&m.tiles[a * MG_WINOGRAD_WORDS * steps], transformed, steps,
                                     m.sums);
                for (int32_t k = 0; (k < 2) && (c + k < p->output_channels); k++) {
                    const mg_channel channel = mg_channel_of(&scaling, bias, c + k, requantization);
                    mg_winograd_finish(p, &scaling, &channel, &m.sums[k], &target[a], c + k,
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
