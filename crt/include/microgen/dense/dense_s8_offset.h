/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8 with int32 accumulators, of weights with a zero point. */
#ifndef MICROGEN_DENSE_S8_OFFSET_H
#define MICROGEN_DENSE_S8_OFFSET_H

#include <stddef.h>

#include "microgen/dense/dense_s8.h"
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
    mg_dense_s8_with(&p->dense, input, weight, &p->weight_offset, bias, multiplier, shift, output,
                     requantization);
}

#define MG_DENSE_S8_OFFSET_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s8_offset, int8_t)
#define MG_DENSE_S8_OFFSET_KERNEL(name, ...)                                                       \
    MG_KERNEL(name, mg_dense_s8_offset, int8_t, __VA_ARGS__)

#endif
