/* SPDX-License-Identifier: Apache-2.0 */
/* Products of int16 matrices with int64 accumulators and broadcast batches. */
#ifndef MICROGEN_BATCH_MATMUL_S16_H
#define MICROGEN_BATCH_MATMUL_S16_H

#include "microgen/dense/batch_matmul.h"
#include "microgen/requantization/requantize_s16.h"

typedef struct {
    mg_batch_matmul_shape shape;
    int32_t multiplier; /* output = sum * multiplier * 2^(shift - 31), by mg_requantize_reduced */
    int32_t shift;      /* -31 to 14 */
} mg_batch_matmul_s16_params;

/* Multiplies matrices lhs [rows][depth] by rhs [depth][columns] into output
 * [batches[0]][batches[1]][batches[2]][rows][columns], scaled by mg_requantize_reduced.
 *
 * Output must not overlap an operand. The magnitude of every sum of products must be below 2^47. */
MG_DECLARE_BINARY(mg_batch_matmul_s16, int16_t, int16_t);

/* The stored output value of the product of a row and a column. */
MG_INLINE int16_t mg_batch_matmul_s16_element(const mg_batch_matmul_s16_params *p,
                                              const int16_t *row, const int16_t *column)
{
    int64_t sum = 0;

    for (int32_t k = 0; k < p->shape.depth; k++) {
        sum += row[k * p->shape.lhs_column] * column[k * p->shape.rhs_row];
    }
    return mg_clamp_s16(mg_requantize_reduced(sum, p->multiplier, p->shift), INT16_MIN, INT16_MAX);
}

MG_INLINE void mg_batch_matmul_s16_body(const mg_batch_matmul_s16_params *p, const int16_t *lhs,
                                        const int16_t *rhs, int16_t *output)
{
    const mg_batch_matmul_shape *s = &p->shape;

    MG_BATCH_MATMUL(mg_batch_matmul_s16_element, p, s, int16_t, lhs, rhs, output);
}

#ifdef MG_BATCH_MATMUL_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_BINARY(mg_batch_matmul_s16, int16_t, int16_t)
#endif

#endif
