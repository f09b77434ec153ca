/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D convolution, float32, in blocks of four pixels and four channels, for cores with an FPU. */
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

/* The same for four pixels that are `step` values apart. */
MG_INLINE void mg_conv2d_f32_tile_sums(mg_tile_f32 *tile, const mg_window *window,
                                       const float *values, int32_t step, mg_filters_f32 filters,
                                       int fused)
{
    /* Lines are rows if these are runs, else the runs of a row. */
    const int32_t is_whole = window->runs == 1;
    const mg_tile_reads_f32 reads = {(is_whole != 0) ? window->rows : window->runs,
                                     window->length,
                                     (is_whole != 0) ? window->next_row : window->next_run,
                                     (is_whole != 0) ? window->next_weight_row
                                                     : window->next_weight_run,
                                     step,
                                     filters.step};
    const int32_t parts = (is_whole != 0) ? 1 : window->rows;

    for (int32_t i = 0; i < parts; i++) {
        mg_add_tile_f32(tile, &reads, &values[i * window->next_row],
                        &filters.first[i * window->next_weight_row], fused);
    }
}

/* Computes four channels, from c on, of one pixel, or of four of a line (`is_block`). */
MG_INLINE void mg_conv2d_f32_block(const mg_conv2d_f32_blocks_params *p,
                                   const mg_pixel_lines *lines, const mg_window *window,
                                   const float *values, const float *weight, const float *bias,
                                   int32_t c, int is_block, float *output, int fused)
{
    const mg_conv2d_shape *s = &p->shape;
    const int32_t size = s->kernel_height * s->kernel_width * s->filter_channels;
    const mg_filters_f32 filters = {&weight[c * size + window->weight], size};
    const mg_range_f32 range = {p->activation_min, p->activation_max};
    const mg_sums_f32 start = mg_bias_4_f32(bias, c);

    if (is_block != 0) {
        mg_tile_f32 tile;
        mg_begin_tile_f32(&tile, start);
        mg_conv2d_f32_tile_sums(&tile, window, values, lines->value_step, filters, fused);
        mg_store_tile_f32(&tile, range, output, lines->output_step, fused);
    } else {
        mg_clamp_4_f32(range, mg_conv2d_f32_pixel_sums(start, window, values, filters, fused),
                       output);
    }
}

/* Computes all channels of a pixel, or of four. A group has `group` channels, four or more. The
 * last four of a group may be computed together with some that are already known. */
MG_INLINE void mg_conv2d_f32_pixels(const mg_conv2d_f32_blocks_params *p,
                                    const mg_pixel_lines *lines, const mg_window *window,
                                    int is_block, float *pixel, const float *input,
                                    const float *weight, const float *bias, int fused)
{
    const mg_conv2d_shape *s = &p->shape;
    const int32_t group = mg_group_outputs(s);
    const float *values = &input[window->value];

    for (int32_t first = 0; first < s->output_channels; first += group) {
        const int32_t last = first + group - 4;
        for (int32_t c = first; c < first + group; c += 4) {
            const int32_t from = (c < last) ? c : last;
            mg_conv2d_f32_block(p, lines, window, values, weight, bias, from, is_block,
                                &pixel[from], fused);
        }
        values += s->filter_channels;
    }
}

/* Computes the same as mg_conv2d_f32_body, except that sums begin with the bias and are added as
 * `fused` says. A group must have four or more output channels. */
MG_INLINE void mg_conv2d_f32_blocks_body(MG_ARGUMENTS_F32(mg_conv2d_f32_blocks), int fused)
{
    MG_PIXELS_F32(mg_conv2d_f32_pixels, mg_conv2d_window_at, p, output, input, weight, bias, fused);
}

#define MG_CONV2D_F32_BLOCKS_PROTOTYPE(name) void name(MG_ARGUMENTS_F32(mg_conv2d_f32_blocks))
#define MG_CONV2D_F32_BLOCKS_KERNEL(name, fused) MG_KERNEL_F32(name, mg_conv2d_f32_blocks, fused)

#endif
