/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8 with int32 accumulators, of weights with a zero point. */
#ifndef MICROGEN_DENSE_S8_OFFSET_H
#define MICROGEN_DENSE_S8_OFFSET_H

#include <stddef.h>
#include <stdint.h>

#include "microgen/dense/dense_s8.h"
#include "microgen/inline.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef struct {
    mg_dense_s8_params dense;
    int32_t weight_offset; /* minus the weight's zero point: -127 to 128 */
} mg_dense_s8_offset_params;

/* Computes the same as mg_dense_s8_body with the same arguments, but with weight + weight_offset
 * instead of weight. */
MG_BODY(mg_dense_s8_offset, int8_t, int requantization)
{
    const mg_dense_s8_params *q = &p->dense;
    const mg_scaling scaling = MG_SCALING_OF(q, multiplier, shift);

    for (int32_t n = 0; n < q->batches; n++) {
        for (int32_t o = 0; o < q->output_features; o++) {
            int32_t sum = (bias != NULL) ? bias[o] : 0;

            for (int32_t i = 0; i < q->input_features; i++) {
                sum += (input[n * q->input_features + i] + q->input_offset) *
                       (weight[o * q->input_features + i] + p->weight_offset);
            }
            mg_store(&scaling, output, n * q->output_features + o, (q->per_channel != 0) ? o : 0,
                     sum, requantization);
        }
    }
}

#define MG_DENSE_S8_OFFSET_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s8_offset, int8_t)
#define MG_DENSE_S8_OFFSET_KERNEL(name, ...)                                                       \
    MG_KERNEL(name, mg_dense_s8_offset, int8_t, __VA_ARGS__)

#endif
