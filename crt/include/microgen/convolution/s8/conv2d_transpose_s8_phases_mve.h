/* SPDX-License-Identifier: Apache-2.0 */
/* Transposed 2-D convolution, int8, for MVE: the tiles of mve_tiles.h.
 *
 * Outputs that are a stride apart are a phase: the same taps of the filters reach them, every
 * stride-th one, from adjacent pixels. So each phase is a convolution of its own, without strides,
 * whose windows come from strips as those of conv2d_s8_rows_mve.h: [columns][rows][input channels]
 * of the window. The phases of a row of outputs share a strip. */
#ifndef MICROGEN_CONV2D_TRANSPOSE_S8_PHASES_MVE_H
#define MICROGEN_CONV2D_TRANSPOSE_S8_PHASES_MVE_H

#include <stddef.h>

#include "microgen/blocks/mve_tiles.h"
#include "microgen/convolution/s8/conv2d_s8_rows_mve.h"
#include "microgen/convolution/s8/conv2d_transpose_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_conv2d_transpose_s8_params mg_conv2d_transpose_s8_phases_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* The outputs n * stride + q along one axis, for all n: their windows are the `taps` pixels that
 * end with pixel n + last. */
typedef struct {
    int32_t taps; /* at least 1, whose weight is 0 if no tap of a filter reaches the outputs */
    int32_t last;
} mg_mve_phase;

MG_INLINE mg_mve_phase mg_mve_phase_of(int32_t q, int32_t crop, int32_t kernel, int32_t stride)
{
    const int32_t first = (q + crop) % stride;
    const mg_mve_phase phase = {(first < kernel) ? (kernel - first - 1) / stride + 1 : 1,
                                (q + crop) / stride};
    return phase;
}

/* The pixels, relative to n, that windows of all phases of an axis span. */
MG_INLINE mg_taps mg_mve_phase_span(int32_t crop, int32_t kernel, int32_t stride)
{
    mg_taps span = {crop / stride, (crop + stride - 1) / stride + 1};

    for (int32_t q = 0; q < stride; q++) {
        const mg_mve_phase phase = mg_mve_phase_of(q, crop, kernel, stride);
        const int32_t first = phase.last - phase.taps + 1;
        span.begin = (first < span.begin) ? first : span.begin;
    }
    return span;
}

/* Pixels of a strip for which a phase has outputs: those from n on, of which strips have eight. */
MG_INLINE int32_t mg_mve_phase_count(int32_t q, int32_t n, int32_t stride, int32_t size)
{
    const int32_t left = (size - q + stride - 1) / stride - n;
    return (left < MG_MVE_STRIP) ? left : MG_MVE_STRIP;
}

/* Fills a strip of `lines` lines and `columns` columns, from row y and column x on. */
MG_INLINE void mg_mve_phase_fill(const mg_conv2d_transpose_s8_params *p, const int8_t *image,
                                 int32_t y, int32_t lines, int32_t x, int32_t columns, int8_t *to)
{
    const mg_taps taps = mg_taps_inside(x, columns, 1, p->input_width);
    const int32_t first = (x < 0) ? 0 : x;
    mg_mve_strip strip = {p->input_channels,
                          lines * p->input_channels,
                          columns,
                          0,
                          0,
                          -p->input_offset,
                          NULL,
                          1,
                          lines,
                          p->input_width * p->input_channels,
                          1,
                          p->input_height};

    if (taps.begin < taps.end) {
        strip.left = taps.begin;
        strip.inside = taps.end - taps.begin;
        strip.right = columns - taps.end;
    }
    mg_mve_strip_lines(&strip, image, (y * p->input_width + first) * p->input_channels, y, to);
}

/* Pixels of one phase, of which the windows and the outputs are `step` and `apart` bytes apart. */
typedef struct {
    const int8_t *window;
    int32_t step;
    int32_t count;
    int32_t apart;
    int8_t *output;
} mg_mve_phase_pixels;

/* Computes the pixels for the groups of filters of a tile. The last four pixels overlap those
 * before; if there are less than four, two or all of a tile's are the same. */
MG_INLINE void mg_mve_phase_pass(mg_mve_tile *tile, const mg_mve_phase_pixels *of,
                                 int requantization)
{
    const int32_t pair = (of->count > 1) ? 1 : 0;
    const int32_t below = (of->count >= MG_MVE_PIXELS) ? 2 : of->count - 1 - pair;

    tile->below = below * of->apart;
    tile->advance = MG_MVE_PIXELS * of->step;
    tile->jump = MG_MVE_PIXELS * of->apart;
    for (int32_t i = 0; i < of->count; i += tile->passes * MG_MVE_PIXELS) {
        const int32_t last = of->count - MG_MVE_PIXELS;
        const int32_t at = (i > last && last >= 0) ? last : i;
        tile->first[0] = of->window + at * of->step;
        tile->first[1] = tile->first[0] + pair * of->step;
        tile->second[0] = tile->first[0] + below * of->step;
        tile->second[1] = tile->second[0] + pair * of->step;
        tile->output = of->output + at * of->apart;
        tile->passes = (at < last) ? (of->count - at) / MG_MVE_PIXELS : 1;
        mg_mve_tile_any(tile, requantization);
    }
}

/* Computes all channels of the pixels. */
MG_INLINE void mg_mve_phase_compute_body(mg_mve_tile tile, const mg_mve_phase_pixels *of,
                                         int requantization)
{
    const int32_t apart = (of->count > 1) ? of->apart : 0;
    const uint16x8_t lanes = vidupq_n_u16(0, 1);
    mg_mve_tile_vectors vectors = *tile.shared;

    vectors.places =
        vmlaq_n_u16(vshrq_n_u16(lanes, 1), vandq_u16(lanes, vdupq_n_u16(1)), (uint16_t)apart);
    tile.shared = &vectors;
    mg_mve_phase_pass(&tile, of, requantization);
}

/* The same out of line for all layers of a model. */
static __attribute__((noinline, unused)) void mg_mve_phase_compute(const mg_mve_tile *tile,
                                                                   const mg_mve_phase_pixels *of)
{
    mg_mve_phase_compute_body(*tile, of, MG_ROUND_TWICE_NARROW);
}

#ifdef MG_MVE_HAS_FLOATS
static __attribute__((noinline, unused)) void
mg_mve_phase_compute_float(const mg_mve_tile *tile, const mg_mve_phase_pixels *of)
{
    mg_mve_phase_compute_body(*tile, of, MG_ROUND_FLOAT_FPU);
}
#endif

MG_INLINE void mg_mve_phase_compute_with(const mg_mve_tile *tile, const mg_mve_phase_pixels *of,
                                         int requantization)
{
    MG_MVE_EITHER(mg_mve_phase_compute, requantization, tile, of);
}

/* The tile of a layer of `filters`, whose pixels and vectors are set later. */
MG_INLINE void mg_mve_phase_begin(mg_mve_tile *tile, const mg_conv2d_transpose_s8_params *p,
                                  const int8_t *weight, const int32_t *bias,
                                  const int32_t *multiplier, const int8_t *shift, int32_t filters,
                                  const mg_mve_tile_vectors *vectors, int requantization)
{
    const mg_mve_rows rows = {
        weight,           bias, multiplier, shift, filters, p->output_offset, p->activation_min,
        p->activation_max};

    mg_mve_tile_begin(tile, &rows, MG_MVE_BYTES, NULL, vectors, requantization);
}

#define MG_MVE_PHASE_VECTORS_OF(p)                                                                 \
    {                                                                                              \
        vdupq_n_s16((int16_t)(p)->activation_min), vdupq_n_s16((int16_t)(p)->activation_max),      \
            vdupq_n_u16(0)                                                                         \
    }

/* Computes the phases of one row of outputs, from pixel n of their strip on. Begins and ends with
 * the tile's weights and bias those of the row's first and of the next row's first phase. */
MG_INLINE void mg_mve_phase_row(const mg_conv2d_transpose_s8_params *p, mg_mve_tile *tile,
                                const int8_t *strip, mg_taps span, int32_t lines, int32_t n,
                                int8_t *output, int requantization)
{
    const int32_t channels = p->output_channels;
    const int32_t filters = (channels + MG_MVE_FILTERS - 1) / MG_MVE_FILTERS * MG_MVE_FILTERS;
    const int32_t step = lines * p->input_channels;

    for (int32_t q = 0; q < p->stride_width; q++) {
        const mg_mve_phase phase =
            mg_mve_phase_of(q, p->crop_left, p->kernel_width, p->stride_width);
        const int32_t depth = phase.taps * step;
        const int32_t first = phase.last - phase.taps + 1 - span.begin;
        const mg_mve_phase_pixels pixels = {
            strip + first * step - mg_mve_lead(depth), step,
            mg_mve_phase_count(q, n, p->stride_width, p->output_width), p->stride_width * channels,
            output + (n * p->stride_width + q) * channels};
        tile->vectors = (depth + MG_MVE_BYTES - 1) / MG_MVE_BYTES;
        if (pixels.count > 0) {
            mg_mve_phase_compute_with(tile, &pixels, requantization);
        }
        tile->weight += filters * tile->vectors * MG_MVE_BYTES;
        tile->bias += channels;
    }
}

/* Computes the same as mg_conv2d_transpose_s8_body with the same arguments, but with a bias for
 * each phase that contains the input's zero point, and with weights that are, for each phase, those
 * of mve_tiles.h for windows [columns][rows][input_channels]. Phases are in the order of the first
 * outputs. There are at least four output channels. `requantization` is MG_ROUND_TWICE_NARROW or
 * MG_ROUND_FLOAT_FPU. scratch has a vector and the bytes of a strip, which is of eight pixels or of
 * a whole row if that has fewer, with the windows of all phases. */
MG_BODY(mg_conv2d_transpose_s8_phases_mve, int8_t, uint8_t *scratch, int requantization)
{
    const mg_mve_tile_vectors vectors = MG_MVE_PHASE_VECTORS_OF(p);
    const mg_taps span = mg_mve_phase_span(p->crop_left, p->kernel_width, p->stride_width);
    const int32_t row = p->output_width * p->output_channels;
    int8_t *const strip = (int8_t *)scratch + MG_MVE_BYTES;
    int8_t *to = (int8_t *)output;

    for (int32_t image = 0; image < p->batches; image++) {
        for (int32_t y = 0; y * p->stride_height < p->output_height; y++) {
            for (int32_t x = 0; x * p->stride_width < p->output_width; x += MG_MVE_STRIP) {
                const int32_t count = mg_mve_phase_count(0, x, p->stride_width, p->output_width);
                mg_mve_tile tile;
                mg_mve_phase_begin(&tile, p, weight, bias, multiplier, shift, p->output_channels,
                                   &vectors, requantization);
                for (int32_t q = 0;
                     q < p->stride_height && y * p->stride_height + q < p->output_height; q++) {
                    const mg_mve_phase rows =
                        mg_mve_phase_of(q, p->crop_top, p->kernel_height, p->stride_height);
                    mg_mve_phase_fill(p, input, y + rows.last - rows.taps + 1, rows.taps,
                                      x + span.begin, count - 1 + span.end - span.begin, strip);
                    mg_mve_phase_row(p, &tile, strip, span, rows.taps, x,
                                     to + (y * p->stride_height + q) * row, requantization);
                }
            }
        }
        input += p->input_height * p->input_width * p->input_channels;
        to += p->output_height * row;
    }
}

#endif

#define MG_CONV2D_TRANSPOSE_S8_PHASES_MVE_KERNEL(name, ...)                                        \
    MG_KERNEL_SCRATCH_MVE(name, mg_conv2d_transpose_s8_phases_mve, int8_t, __VA_ARGS__)
#define MG_CONV2D_TRANSPOSE_S8_PHASES_MVE_PROTOTYPE(name)                                          \
    MG_PROTOTYPE_SCRATCH(name, mg_conv2d_transpose_s8_phases_mve, int8_t)

/* The same for few output channels, which makes all phases filters of one convolution: these have
 * weights of 0 for the pixels that only windows of other phases have. */
typedef mg_conv2d_transpose_s8_params mg_conv2d_transpose_s8_merged_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* Repeats the scales of the channels for each phase. */
MG_INLINE void mg_mve_merged_scales(const int32_t *multiplier, const int8_t *shift,
                                    int32_t channels, int32_t filters, int32_t *multipliers,
                                    int8_t *shifts)
{
    for (int32_t i = 0; i < filters; i++) {
        multipliers[i] = multiplier[i % channels];
        if (shifts != NULL) {
            shifts[i] = shift[i % channels];
        }
    }
}

/* Stores a run of outputs, which are `run` bytes of each result; results are `filters` bytes
 * apart. A vector has those of `runs` results, at `places`. */
MG_INLINE void mg_mve_merged_store(const int8_t *results, uint8x16_t places, int32_t runs,
                                   int32_t run, int32_t filters, int32_t count, int8_t *output)
{
    for (int32_t left = count; left > 0; left -= runs * run) {
        const int32_t each = (left < runs * run) ? left : runs * run;
        const mve_pred16_t active = vctp8q((uint32_t)each);
        vstrbq_p_s8(output, vldrbq_gather_offset_z_s8(results, places, active), active);
        results += runs * filters;
        output += runs * run;
    }
}

/* Computes the same as mg_conv2d_transpose_s8_phases_mve_body, but with the weights of mve_tiles.h
 * of all phases as filters, whose windows are the pixels that the windows of all phases span.
 * stride_width * output_channels is at most 16. scratch, aligned to 4 bytes, has for each filter a
 * word and nine bytes, a vector, and the bytes of a strip. */
MG_BODY(mg_conv2d_transpose_s8_merged_mve, int8_t, uint8_t *scratch, int requantization)
{
    const mg_mve_tile_vectors vectors = MG_MVE_PHASE_VECTORS_OF(p);
    const mg_taps columns = mg_mve_phase_span(p->crop_left, p->kernel_width, p->stride_width);
    const mg_taps rows = mg_mve_phase_span(p->crop_top, p->kernel_height, p->stride_height);
    const int32_t run = p->stride_width * p->output_channels;
    const int32_t filters = run * p->stride_height;
    const int32_t lines = rows.end - rows.begin;
    const int32_t step = lines * p->input_channels;
    const int32_t depth = (columns.end - columns.begin) * step;
    const int32_t row = p->output_width * p->output_channels;
    const int32_t runs = MG_MVE_BYTES / run;
    int32_t *const multipliers = (int32_t *)(void *)scratch;
    int8_t *const shifts = (int8_t *)&multipliers[filters];
    int8_t *const results = shifts + filters;
    int8_t *const strip = results + MG_MVE_STRIP * filters + MG_MVE_BYTES;
    uint8_t places[MG_MVE_BYTES] = {0};
    int8_t *to = (int8_t *)output;

    mg_mve_merged_scales(multiplier, shift, p->output_channels, filters, multipliers,
                         (requantization == MG_ROUND_FLOAT_FPU) ? NULL : shifts);
    for (int32_t i = 0; i < runs * run; i++) {
        places[i] = (uint8_t)(i / run * filters + i % run);
    }
    for (int32_t n = 0; n < p->batches; n++) {
        const int8_t *image =
            &input[mg_nhwc(n, 0, 0, p->input_height, p->input_width, p->input_channels)];
        for (int32_t y = 0; y < p->output_height; y += p->stride_height) {
            for (int32_t x = 0; x * p->stride_width < p->output_width; x += MG_MVE_STRIP) {
                const int32_t count = mg_mve_phase_count(0, x, p->stride_width, p->output_width);
                const int32_t left = row - x * run;
                const mg_mve_phase_pixels pixels = {strip - mg_mve_lead(depth), step, count,
                                                    filters, results};
                mg_mve_tile tile;
                mg_mve_phase_begin(&tile, p, weight, bias, multipliers, shifts, filters, &vectors,
                                   requantization);
                tile.vectors = (depth + MG_MVE_BYTES - 1) / MG_MVE_BYTES;
                mg_mve_phase_fill(p, image, y / p->stride_height + rows.begin, lines,
                                  x + columns.begin, count - 1 + columns.end - columns.begin,
                                  strip);
                mg_mve_phase_compute_with(&tile, &pixels, requantization);
                for (int32_t q = 0; q < p->stride_height && y + q < p->output_height; q++) {
                    mg_mve_merged_store(results + q * run, vldrbq_u8(places), runs, run, filters,
                                        (left < count * run) ? left : count * run,
                                        to + (y + q) * row + x * run);
                }
            }
        }
        to += p->output_height * row;
    }
}

#endif

#define MG_CONV2D_TRANSPOSE_S8_MERGED_MVE_KERNEL(name, ...)                                        \
    MG_KERNEL_SCRATCH_MVE(name, mg_conv2d_transpose_s8_merged_mve, int8_t, __VA_ARGS__)
#define MG_CONV2D_TRANSPOSE_S8_MERGED_MVE_PROTOTYPE(name)                                          \
    MG_PROTOTYPE_SCRATCH(name, mg_conv2d_transpose_s8_merged_mve, int8_t)

#endif
