/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer of int8 data with weights of 4 bits. */
#ifndef MICROGEN_DENSE_S4_H
#define MICROGEN_DENSE_S4_H

#include "microgen/blocks/blocks_s8.h"
#include "microgen/blocks/dsp.h"
#include "microgen/blocks/int4.h"
#include "microgen/blocks/int4_dsp.h"
#include "microgen/dense/dense_s8.h"
#include "microgen/dense/dense_s8_blocks.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_dense_s8_params mg_dense_s4_params;

/* sum + the sum of (value + offset) * weight over n values and a row of n weights. */
MG_INLINE int32_t mg_dot_s4(int32_t sum, const int8_t *values, const uint8_t *row, int32_t n,
                            int32_t offset)
{
    const int32_t whole = n - n % 2;

    for (int32_t i = 0; i < whole; i += 2) {
        const uint8_t byte = *row++;
        sum += (values[i] + offset) * mg_low_s4(byte);
        sum += (values[i + 1] + offset) * mg_high_s4(byte);
    }
    if (whole < n) {
        sum += (values[whole] + offset) * mg_low_s4(*row);
    }
    return sum;
}

/* Computes the same as mg_dense_s8_body with the same arguments, except that weight has two weights
 * to a byte, as microgen/blocks/int4.h describes. A row of it has input_features weights. */
MG_BODY(mg_dense_s4, uint8_t, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const int32_t depth = p->input_features;
    const int32_t channels = p->output_features;

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t c = 0; c < channels; c++) {
            const int32_t sum =
                mg_dot_s4(mg_bias(bias, c), &input[n * depth], &weight[c * mg_row_bytes_s4(depth)],
                          depth, p->input_offset);
            mg_store(&scaling, output, n * channels + c, (p->per_channel != 0) ? c : 0, sum,
                     requantization);
        }
    }
}

#define MG_DENSE_S4_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s4, uint8_t)
#define MG_DENSE_S4_KERNEL(name, ...) MG_KERNEL(name, mg_dense_s4, uint8_t, __VA_ARGS__)

/* Fully connected layer of int8 data with weights of 4 bits, four output channels at a time. */

typedef mg_dense_s4_params mg_dense_s4_blocks_params;

/* 8 times the sum of n values. */
MG_INLINE int32_t mg_eights_s4(const int8_t *values, int32_t n, int32_t offset)
{
    int32_t sum = n * offset;

    for (int32_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return 8 * sum;
}

/* sums + the products of n values, a multiple of 8, with the weights of four channels, whose rows
 * are `step` bytes apart. `eights` is mg_eights_s4 of the values. */
MG_INLINE mg_sums mg_dot_4_s4_dsp(mg_sums sums, const int8_t *values, const uint8_t *weight,
                                  int32_t step, int32_t n, int32_t offset, int32_t eights)
{
    const uint32_t offsets = mg_twice_s16(offset);
    const uint32_t pairs = mg_in_register(0x000F000FU);
    mg_sums products = {-eights, -eights, -eights, -eights};

    for (int32_t i = 0; i < n; i += 8) {
        const mg_eight_values eight = mg_eight_values_at(&values[i], offsets);
        products.a = mg_times_8_s4(products.a, &eight, weight, pairs);
        products.b = mg_times_8_s4(products.b, &eight, &weight[step], pairs);
        products.c = mg_times_8_s4(products.c, &eight, &weight[2 * step], pairs);
        products.d = mg_times_8_s4(products.d, &eight, &weight[3 * step], pairs);
        weight += 4;
    }
    sums.a += products.a;
    sums.b += products.b;
    sums.c += products.c;
    sums.d += products.d;
    return sums;
}

/* sums + the products of n values with the weights of four channels. */
MG_INLINE mg_sums mg_dot_4_s4(mg_sums sums, const int8_t *values, const uint8_t *weight,
                              int32_t step, int32_t n, int32_t offset)
{
    const int32_t whole = n - n % 2;

    for (int32_t i = 0; i < whole; i += 2) {
        const int32_t first = values[i] + offset;
        const int32_t second = values[i + 1] + offset;
        sums.a += first * mg_low_s4(weight[0]) + second * mg_high_s4(weight[0]);
        sums.b += first * mg_low_s4(weight[step]) + second * mg_high_s4(weight[step]);
        sums.c += first * mg_low_s4(weight[2 * step]) + second * mg_high_s4(weight[2 * step]);
        sums.d += first * mg_low_s4(weight[3 * step]) + second * mg_high_s4(weight[3 * step]);
        weight++;
    }
    if (whole < n) {
        const int32_t last = values[whole] + offset;
        sums.a += last * mg_low_s4(weight[0]);
        sums.b += last * mg_low_s4(weight[step]);
        sums.c += last * mg_low_s4(weight[2 * step]);
        sums.d += last * mg_low_s4(weight[3 * step]);
    }
    return sums;
}

/* Computes the same as mg_dense_s4_body with the same arguments. 32 times the sum of the magnitudes
 * of a row of data, input_offset included, must fit int32. It does if the products with any int8
 * weights fit. `loop` is a constant of microgen/blocks/blocks_s8.h. */
MG_BODY(mg_dense_s4_blocks, uint8_t, int loop, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const int32_t depth = p->input_features;
    const int32_t step = mg_row_bytes_s4(depth);
    const int32_t channels = p->output_features;
    const int32_t whole = channels - channels % 4;
    const int32_t most = (loop == MG_DSP) ? depth - depth % 8 : 0;

    for (int32_t n = 0; n < p->batches; n++) {
        const int8_t *values = &input[n * depth];
        const int32_t eights = mg_eights_s4(values, most, p->input_offset);
        int8_t *out = (int8_t *)output + n * channels;
        for (int32_t c = 0; c < whole; c += 4) {
            const uint8_t *rows = &weight[c * step];
            mg_sums sums = mg_bias_4(bias, c);
            if (loop == MG_DSP) {
                sums = mg_dot_4_s4_dsp(sums, values, rows, step, most, p->input_offset, eights);
            }
            sums = mg_dot_4_s4(sums, &values[most], &rows[most / 2], step, depth - most,
                               p->input_offset);
            out[c] = mg_dense_s8_scaled(p, &scaling, c, sums.a, requantization);
            out[c + 1] = mg_dense_s8_scaled(p, &scaling, c + 1, sums.b, requantization);
            out[c + 2] = mg_dense_s8_scaled(p, &scaling, c + 2, sums.c, requantization);
            out[c + 3] = mg_dense_s8_scaled(p, &scaling, c + 3, sums.d, requantization);
        }
        for (int32_t c = whole; c < channels; c++) {
            const int32_t sum =
                mg_dot_s4(mg_bias(bias, c), values, &weight[c * step], depth, p->input_offset);
            out[c] = mg_dense_s8_scaled(p, &scaling, c, sum, requantization);
        }
    }
}

#define MG_DENSE_S4_BLOCKS_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s4_blocks, uint8_t)
#define MG_DENSE_S4_BLOCKS_KERNEL(name, ...)                                                       \
    MG_KERNEL(name, mg_dense_s4_blocks, uint8_t, __VA_ARGS__)

#endif
