/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution of several groups, or with dilated columns, int8, for MVE: the tiles of
 * mve_tiles.h. Each tap of four windows is copied on its own, whole or as zero points; groups of
 * few channels are merged as for conv2d_s8_taps.h. */
#ifndef MICROGEN_CONV2D_S8_TAPS_MVE_H
#define MICROGEN_CONV2D_S8_TAPS_MVE_H

#include "microgen/blocks/mve_tiles.h"
#include "microgen/convolution/s8/conv2d_s8_taps.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

/* filter_channels are those of merged groups. */
typedef mg_conv2d_s8_params mg_conv2d_s8_taps_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* The windows of four pixels, one after the other: of all taps, at `places` of an image that begins
 * with the group's first channel. Stores whole vectors, whose ends the next taps overwrite. */
MG_INLINE void mg_mve_taps_gather(const int32_t *places, int32_t taps, const int8_t *image,
                                  int32_t run, int32_t zero, int8_t *to)
{
    const int8x16_t zeros = vdupq_n_s8((int8_t)zero);

    for (int32_t pixel = 0; pixel < MG_MVE_PIXELS; pixel++) {
        const int32_t *next = &places[pixel];
        for (int32_t tap = taps; tap > 0; tap--) {
            for (int32_t i = 0; i < run; i += MG_MVE_BYTES) {
                int8x16_t values = zeros;
                if (*next >= 0) {
                    values = vldrbq_z_s8(&image[*next + i], vctp8q((uint32_t)(run - i)));
                }
                vstrbq_s8(&to[i], values);
            }
            to += run;
            next += MG_MVE_PIXELS;
        }
    }
}

/* Computes the same as mg_conv2d_s8_body, with the input's zero point in the bias. Images have four
 * pixels or more, and merged groups four output channels or more. Weights are those of
 * mve_tiles.h for each merged group, in the order [kernel_height][kernel_width][channels].
 * `requantization` is MG_ROUND_TWICE_NARROW, MG_ROUND_UPWARD_NARROW or MG_ROUND_FLOAT_FPU. The
 * scratch memory, aligned to 4 bytes, has four words for each tap, the values of four windows, and
 * a vector before and after these. The last block of an image has its last four pixels, as in
 * conv2d_s8_taps.h. */
MG_BODY(mg_conv2d_s8_taps_mve, int8_t, uint8_t *scratch, int requantization)
{
    const int32_t groups = p->input_channels / p->filter_channels;
    const int32_t channels = p->output_channels / groups;
    const int32_t pixels = p->output_height * p->output_width;
    const int32_t taps = p->kernel_height * p->kernel_width;
    const int32_t size = taps * p->filter_channels;
    const int32_t filters = (channels + MG_MVE_FILTERS - 1) / MG_MVE_FILTERS * MG_MVE_FILTERS;
    const int32_t bytes = filters * (size + mg_mve_lead(size));
    const mg_mve_rows all = MG_MVE_ROWS_OF(p, weight, bias, multiplier, shift);
    mg_mve_rows group = all;
    mg_mve_tile_vectors vectors;
    int32_t *const places = (int32_t *)(void *)scratch;
    int8_t *const lead = (int8_t *)&places[MG_MVE_PIXELS * taps];
    int8_t *const windows = lead + mg_mve_lead(size);
    int8_t *to = (int8_t *)output;

    mg_mve_tile tile;
    group.channels = channels;
    mg_mve_tile_begin(&tile, &group, size, to, &vectors, requantization);
    tile.advance = 0;
    tile.lanes = 0xFFFF;
    mg_mve_tile_scatter(&tile, &vectors, &all, MG_MVE_PIXELS);
    tile.first[0] = lead;
    tile.first[1] = lead + size;
    tile.second[0] = lead + 2 * size;
    tile.second[1] = lead + 3 * size;
    for (int32_t image = 0; image < p->batches; image++) {
        for (int32_t n = 0; n < pixels; n += MG_MVE_PIXELS) {
            const int32_t first = (n < pixels - MG_MVE_PIXELS) ? n : pixels - MG_MVE_PIXELS;
            for (int32_t i = 0; i < MG_MVE_PIXELS; i++) {
                mg_conv2d_s8_taps_at(p, first + i, &places[i]);
            }
            tile.output = &to[first * p->output_channels];
            tile.bias = bias;
            tile.weight = weight;
            tile.multiplier = multiplier;
            tile.shift = shift;
            for (int32_t g = 0; g < groups; g++) {
                mg_mve_taps_gather(places, taps, &input[g * p->filter_channels], p->filter_channels,
                                   -p->input_offset, windows);
                mg_mve_tile_any(&tile, requantization);
                tile.weight += bytes;
                tile.bias += channels;
                tile.multiplier += channels;
                if (requantization != MG_ROUND_FLOAT_FPU) {
                    tile.shift += channels;
                }
                tile.output += channels;
            }
        }
        input += p->input_height * p->input_width * p->input_channels;
        to += pixels * p->output_channels;
    }
}

#define MG_CONV2D_S8_TAPS_MVE_KERNEL(name, ...)                                                    \
    MG_KERNEL_SCRATCH(name, mg_conv2d_s8_taps_mve, int8_t, __VA_ARGS__)

#else

#define MG_CONV2D_S8_TAPS_MVE_KERNEL(name, ...) MG_CONV2D_S8_TAPS_MVE_PROTOTYPE(name);

#endif

#define MG_CONV2D_S8_TAPS_MVE_PROTOTYPE(name)                                                      \
    MG_PROTOTYPE_SCRATCH(name, mg_conv2d_s8_taps_mve, int8_t)

#endif
