/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8, four output channels at a time. */
#ifndef MICROGEN_DENSE_S8_BLOCKS_H
#define MICROGEN_DENSE_S8_BLOCKS_H

#include "microgen/blocks/blocks_s8.h"
#include "microgen/dense/dense_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_dense_s8_params mg_dense_s8_blocks_params;

/* The output of channel c, whose accumulator is x. */
MG_INLINE int8_t mg_dense_s8_scaled(const mg_dense_s8_params *p, const mg_scaling *scaling,
                                    int32_t c, int32_t x, int requantization)
{
    return mg_scaled(scaling, (p->per_channel != 0) ? c : 0, x, requantization);
}

/* Computes the same as mg_dense_s8_body with the same arguments. `loop` is a
 * constant of microgen/blocks/blocks_s8.h. */
MG_BODY(mg_dense_s8_blocks, int8_t, int loop, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const int32_t depth = p->input_features;
    const int32_t channels = p->output_features;
    const int32_t whole = channels - channels % 4;

    for (int32_t n = 0; n < p->batches; n++) {
        const int8_t *values = &input[n * depth];
        int8_t *out = (int8_t *)output + n * channels;
        for (int32_t c = 0; c < whole; c += 4) {
            const mg_sums sums = mg_dot_4(mg_bias_4(bias, c), values, &weight[c * depth], depth,
                                          depth, p->input_offset, loop);
            out[c] = mg_dense_s8_scaled(p, &scaling, c, sums.a, requantization);
            out[c + 1] = mg_dense_s8_scaled(p, &scaling, c + 1, sums.b, requantization);
            out[c + 2] = mg_dense_s8_scaled(p, &scaling, c + 2, sums.c, requantization);
            out[c + 3] = mg_dense_s8_scaled(p, &scaling, c + 3, sums.d, requantization);
        }
        for (int32_t c = whole; c < channels; c++) {
            const int32_t sum =
                mg_dot(mg_bias(bias, c), values, &weight[c * depth], depth, p->input_offset);
            out[c] = mg_dense_s8_scaled(p, &scaling, c, sum, requantization);
        }
    }
}

#define MG_DENSE_S8_BLOCKS_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s8_blocks, int8_t)
#define MG_DENSE_S8_BLOCKS_KERNEL(name, ...)                                                       \
    MG_KERNEL(name, mg_dense_s8_blocks, int8_t, __VA_ARGS__)

#endif
