/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer of int8 data with weights of 4 bits. */
#ifndef MICROGEN_DENSE_S4_H
#define MICROGEN_DENSE_S4_H

#include "microgen/blocks/blocks_s8.h"
#include "microgen/blocks/int4.h"
#include "microgen/dense/dense_s8.h"
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

#endif
