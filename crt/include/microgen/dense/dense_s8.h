/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8 with int32 accumulators. */
#ifndef MICROGEN_DENSE_S8_H
#define MICROGEN_DENSE_S8_H

#include <stddef.h>

#include "microgen/dense/dense.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef struct {
    MG_DENSE_SIZES
    int32_t per_channel; /* 1: one multiplier and shift per output feature; 0: one of each */
    MG_OFFSETS_AND_CLAMP
} mg_dense_s8_params;

/* The body with weight + *weight_offset instead of weight. It is read where it is added, so that it
 * needs no register in between. */
MG_INLINE void mg_dense_s8_with(const mg_dense_s8_params *p, const int8_t *input,
                                const int8_t *weight, const int32_t *weight_offset,
                                const int32_t *bias, const int32_t *multiplier, const int8_t *shift,
                                void *output, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t o = 0; o < p->output_features; o++) {
            int32_t sum = (bias != NULL) ? bias[o] : 0;

            for (int32_t i = 0; i < p->input_features; i++) {
                sum += (input[n * p->input_features + i] + p->input_offset) *
                       (weight[o * p->input_features + i] + *weight_offset);
            }
            mg_store(&scaling, output, n * p->output_features + o, (p->per_channel != 0) ? o : 0,
                     sum, requantization);
        }
    }
}

/* Multiplies input [batches][input_features] by weight [output_features][input_features] into
 * output [batches][output_features]. With v = input + input_offset, an output is
 * clamp(requantize(bias + sum of v * weight) + output_offset).
 *
 * `requantization` is a constant of microgen/requantization/scaling_s8.h. multiplier and shift have
 * output_features elements if per_channel is 1, otherwise one. They are NULL for MG_SUMS, whose
 * outputs are the int32 sums. bias [output_features] may be NULL. Output must not overlap the
 * input. The sum of bias and products must fit int32, partial sums included. */
MG_BODY(mg_dense_s8, int8_t, int requantization)
{
    const int32_t none = 0;
    mg_dense_s8_with(p, input, weight, &none, bias, multiplier, shift, output, requantization);
}

#define MG_DENSE_S8_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s8, int8_t)
#define MG_DENSE_S8_KERNEL(name, ...) MG_KERNEL(name, mg_dense_s8, int8_t, __VA_ARGS__)

/* Fully connected layer, int8 with int32 accumulators, of weights with a zero point. */
typedef struct {
    mg_dense_s8_params dense;
    int32_t weight_offset; /* minus the weight's zero point: -127 to 128 */
} mg_dense_s8_offset_params;

/* Computes the same as mg_dense_s8_body with the same arguments, but with weight + weight_offset
 * instead of weight. */
MG_BODY(mg_dense_s8_offset, int8_t, int requantization)
{
    mg_dense_s8_with(&p->dense, input, weight, &p->weight_offset, bias, multiplier, shift, output,
                     requantization);
}

#define MG_DENSE_S8_OFFSET_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s8_offset, int8_t)
#define MG_DENSE_S8_OFFSET_KERNEL(name, ...)                                                       \
    MG_KERNEL(name, mg_dense_s8_offset, int8_t, __VA_ARGS__)

#endif
