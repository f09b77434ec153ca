/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, float32, in tiles of pixels and four channels, for cores with an FPU. */
#ifndef MICROGEN_CONV2D_F32_BLOCKS_H
#define MICROGEN_CONV2D_F32_BLOCKS_H

#include "microgen/blocks/blocks_f32.h"
#include "microgen/blocks/tiles_f32.h"
#include "microgen/convolution/conv2d_f32.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/convolution/pixel_lines.h"
#include "microgen/out_of_line.h"

typedef mg_conv2d_f32_params mg_conv2d_f32_blocks_params;

/* Adds the products of a pixel's window to the sums of four channels. `filters` begin at the
 * window's first weight. */
MG_INLINE mg_sums_f32 mg_conv2d_f32_pixel_sums(mg_sums_f32 sums, const mg_window *window,
                                               const float *values, mg_filters_f32 filters,
                                               int fused)
{
    for (int32_t row = 0; row < window->rows; row++) {
        for (int32_t run = 0; run < window->runs; run++) {
            const int32_t at = row * window->next_weight_row + run * window->next_weight_run;
            const mg_filters_f32 from = {&filters.first[at], filters.step};
            sums = mg_dot_pixel_f32(sums, &values[row * window->next_row + run * window->next_run],
                                    from, window->length, fused);
        }
    }
    return sums;
}

/* What tiles of a window read in each of its `parts`: all of its rows, or the runs of one. */
typedef struct {
    mg_tile_reads_f32 reads;
    int32_t parts;
} mg_conv2d_f32_reads;

/* The same for pixels that are `step` values apart, and filters of `size` weights. */
MG_INLINE mg_conv2d_f32_reads mg_conv2d_f32_reads_of(const mg_window *window, int32_t step,
                                                     int32_t size)
{
    const mg_conv2d_f32_reads rows = {
        {window->rows, window->length, window->next_row, window->next_weight_row, step, size}, 1};
    const mg_conv2d_f32_reads runs = {{(window->rows > 0) ? window->runs : 0, window->length,
                                       window->next_run, window->next_weight_run, step, size},
                                      (window->rows > 0) ? window->rows : 1};
    return (window->runs == 1) ? rows : runs;
}

/* Computes four channels, from c on, of a tile of pixels. */
MG_INLINE void mg_conv2d_f32_tile(mg_tile_f32 *tile, const mg_conv2d_f32_reads *from,
                                  const mg_window *window, const float *values,
                                  const float *weights, const float *bias, int32_t c,
                                  mg_tile_outputs_f32 outputs, int fused)
{
    mg_begin_tile_f32(tile, bias, c, fused);
    for (int32_t i = 0; i < from->parts; i++) {
        mg_add_tile_f32(tile, &from->reads, &values[i * window->next_row],
                        &weights[i * window->next_weight_row], outputs, i == from->parts - 1,
                        fused);
    }
    mg_store_tile_f32(tile, outputs, fused);
}

/* Computes all channels of a pixel, or of a tile of a line (`is_block`). A group has `group`
 * channels, four or more. The last four of a group may be computed together with some that are
 * already known. */
MG_INLINE void mg_conv2d_f32_pixels(const mg_conv2d_f32_blocks_params *p,
                                    const mg_pixel_lines *lines, const mg_window *window,
                                    int is_block, float *pixel, const float *input,
                                    const float *weight, const float *bias, int fused)
{
    const mg_conv2d_shape *s = &p->shape;
    const int32_t group = mg_group_outputs(s);
    const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;
    const mg_range_f32 range = {p->activation_min, p->activation_max};
    const mg_conv2d_f32_reads reads = mg_conv2d_f32_reads_of(window, lines->value_step, size);
    const float *values = &input[window->value];
    mg_tile_f32 tile;

    mg_set_tile_f32(&tile, &reads.reads);
    for (int32_t first = 0; first < s->output_channels; first += group) {
        const int32_t last = first + group - 4;
        for (int32_t c = first; c < first + group; c += 4) {
            const int32_t from = (c < last) ? c : last;
            const mg_filters_f32 filters = {&weight[from * size + window->weight], size};
            if (is_block != 0) {
                const mg_tile_outputs_f32 outputs = {&pixel[from], lines->output_step, range};
                mg_conv2d_f32_tile(&tile, &reads, window, values, filters.first, bias, from,
                                   outputs, fused);
            } else {
                mg_clamp_4_f32(range,
                               mg_conv2d_f32_pixel_sums(mg_bias_4_f32(bias, from), window, values,
                                                        filters, fused),
                               &pixel[from]);
            }
        }
        values += s->filter_channels;
    }
}

/* Computes the same as mg_conv2d_f32_body, except that sums begin with the bias and are added as
 * `fused` says. A group must have four or more output channels. */
MG_INLINE void mg_conv2d_f32_blocks_body(MG_ARGUMENTS_F32(mg_conv2d_f32_blocks), int fused)
{
    MG_PIXELS_F32(MG_TILE_PIXELS_F32(fused), mg_conv2d_f32_pixels, mg_conv2d_window_at, p, output,
                  input, weight, bias, fused);
}

#define MG_CONV2D_F32_BLOCKS_PROTOTYPE(name) void name(MG_ARGUMENTS_F32(mg_conv2d_f32_blocks))
#define MG_CONV2D_F32_BLOCKS_KERNEL(name, fused) MG_KERNEL_F32(name, mg_conv2d_f32_blocks, fused)

#endif
