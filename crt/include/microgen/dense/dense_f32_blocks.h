/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, float32, in tiles of rows and four features, for cores with an
 * FPU. */
#ifndef MICROGEN_DENSE_F32_BLOCKS_H
#define MICROGEN_DENSE_F32_BLOCKS_H

#include "microgen/blocks/blocks_f32.h"
#include "microgen/blocks/tiles_f32.h"
#include "microgen/dense/dense_f32.h"
#include "microgen/out_of_line.h"

typedef mg_dense_f32_params mg_dense_f32_blocks_params;

/* Computes the same as mg_dense_f32_body, except that sums begin with the bias and are added as
 * `fused` says. There must be four or more output features. The last four may be computed together
 * with some that are already known. */
MG_INLINE void mg_dense_f32_blocks_body(MG_ARGUMENTS_F32(mg_dense_f32_blocks), int fused)
{
    const mg_range_f32 range = {p->activation_min, p->activation_max};
    const int32_t depth = p->input_features;
    const int32_t last = p->output_features - 4;
    const int32_t pixels = MG_TILE_PIXELS_F32(fused);
    const int32_t tiled = p->batches - p->batches % pixels;
    const mg_tile_reads_f32 reads = {1, depth, 0, 0, depth, depth};
    mg_tile_f32 tile;

    mg_set_tile_f32(&tile, &reads);
    for (int32_t c = 0; c < p->output_features; c += 4) {
        const int32_t o = (c < last) ? c : last;
        const mg_filters_f32 filters = {&weight[o * depth], depth};
        float *results = &output[o];

        for (int32_t n = 0; n < tiled; n += pixels) {
            const mg_tile_outputs_f32 outputs = {&results[n * p->output_features],
                                                 p->output_features, range};
            mg_begin_tile_f32(&tile, bias, o, fused);
            mg_add_tile_f32(&tile, &reads, &input[n * depth], filters.first, outputs, 1, fused);
            mg_store_tile_f32(&tile, outputs, fused);
        }
        for (int32_t n = tiled; n < p->batches; n++) {
            mg_clamp_4_f32(
                range,
                mg_dot_row_f32(mg_bias_4_f32(bias, o), &input[n * depth], filters, depth, fused),
                &results[n * p->output_features]);
        }
    }
}

#define MG_DENSE_F32_BLOCKS_PROTOTYPE(name) void name(MG_ARGUMENTS_F32(mg_dense_f32_blocks))
#define MG_DENSE_F32_BLOCKS_KERNEL(name, fused) MG_KERNEL_F32(name, mg_dense_f32_blocks, fused)

#endif
