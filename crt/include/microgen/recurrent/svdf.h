/* SPDX-License-Identifier: Apache-2.0 */
/* What layers factored in features and time (SVDF) share.
 *
 * A layer computes output [batches][units] from input [batches][features] and state
 * [batches][units * rank][memory]. Each memory has its oldest value first. It drops this value and
 * appends the latest. feature_weight is [units * rank][features], time_weight
 * [units * rank][memory], bias [units] or NULL. No two buffers may overlap. */
#ifndef MICROGEN_SVDF_H
#define MICROGEN_SVDF_H

#include <stdint.h>

/* The first parameters of all kernels. */
#define MG_SVDF_SIZES                                                                              \
    int32_t batches;                                                                               \
    int32_t features; /* of the input */                                                           \
    int32_t units;    /* of the output */                                                          \
    int32_t rank;     /* filters per unit */                                                       \
    int32_t memory;   /* results that a filter remembers, including the latest */

/* Calls `row` for each row of the batch, with the arguments of a kernel. */
#define MG_SVDF_ROWS(row)                                                                          \
    do {                                                                                           \
        const int32_t remembered_ = p->units * p->rank * p->memory;                                \
        for (int32_t n_ = 0; n_ < p->batches; n_++) {                                              \
            row(p, &input[n_ * p->features], &state[n_ * remembered_], feature_weight,             \
                time_weight, bias, &output[n_ * p->units]);                                        \
        }                                                                                          \
    } while (0)

#endif
