/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer of several rows, int8, for MVE: the tiles of mve_tiles.h, whose pixels are
 * rows. Every output feature has a scale of its own. */
#ifndef MICROGEN_DENSE_S8_TILES_MVE_H
#define MICROGEN_DENSE_S8_TILES_MVE_H

#include "microgen/blocks/mve_tiles.h"
#include "microgen/dense/dense_s8.h"
#include "microgen/out_of_line.h"

typedef mg_dense_s8_params mg_dense_s8_tiles_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* Computes the same as mg_dense_s8_body with the same arguments, but with weights in the order of
 * mve_tiles.h, and with the input's zero point in the bias. `requantization` is
 * MG_ROUND_TWICE_NARROW, MG_ROUND_UPWARD_NARROW or MG_ROUND_FLOAT_FPU. If the input's features are
 * no whole vectors, there are at least MG_MVE_LEAST of them, and four rows or more. */
MG_INLINE void mg_dense_s8_tiles_mve_body(const mg_dense_s8_params *p, const int8_t *input,
                                          const int8_t *weight, const int32_t *bias,
                                          const int32_t *multiplier, const int8_t *shift,
                                          void *output, int requantization)
{
    const mg_mve_rows rows = {weight,
                              bias,
                              multiplier,
                              shift,
                              p->output_features,
                              p->output_offset,
                              p->activation_min,
                              p->activation_max};
    const mg_mve_places places = {p->input_features, p->input_features, p->batches, 0};
    mg_mve_tiles tiles;
    mg_mve_few few;

    mg_mve_tiles_begin_with(&tiles, &few, &rows, p->input_features, (int8_t *)output,
                            requantization);
    mg_mve_tiles_run_with(&tiles, &places, input, p->batches, 0, requantization);
}

#define MG_DENSE_S8_TILES_MVE_KERNEL(name, ...)                                                    \
    MG_KERNEL(name, mg_dense_s8_tiles_mve, int8_t, __VA_ARGS__)

#else

#define MG_DENSE_S8_TILES_MVE_KERNEL(name, ...) MG_DENSE_S8_TILES_MVE_PROTOTYPE(name);

#endif

#define MG_DENSE_S8_TILES_MVE_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s8_tiles_mve, int8_t)

#endif
