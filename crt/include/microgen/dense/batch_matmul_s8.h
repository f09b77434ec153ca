/* SPDX-License-Identifier: Apache-2.0 */
/* Products of int8 matrices with int32 accumulators and broadcast batches. */
#ifndef MICROGEN_BATCH_MATMUL_S8_H
#define MICROGEN_BATCH_MATMUL_S8_H

#include "microgen/dense/batch_matmul.h"
#include "microgen/requantization/scaling_s8.h"

typedef struct {
    MG_BATCH_MATMUL_SHAPE
    int32_t lhs_offset;    /* minus the zero point: -127 to 128 */
    int32_t rhs_offset;    /* the same */
    int32_t output_offset; /* the output's zero point: -128 to 127 */
    int32_t multiplier; /* from sums to the output, as microgen/requantization/requantize.h says */
    int32_t shift;      /* -31 to 30 */
} mg_batch_matmul_s8_params;

/* The stored output value of the product of a row and a column. */
MG_INLINE int8_t mg_batch_matmul_s8_element(const mg_batch_matmul_s8_params *p, const int8_t *row,
                                            const int8_t *column, int requantization)
{
    int32_t sum = 0;

    for (int32_t k = 0; k < p->depth; k++) {
        sum += (row[k * p->lhs_column] + p->lhs_offset) * (column[k * p->rhs_row] + p->rhs_offset);
    }
    return mg_offset_and_clamp(mg_rounded(sum, p->multiplier, p->shift, requantization),
                               p->output_offset, INT8_MIN, INT8_MAX);
}

/* Computes one matrix of the batch, output [rows][columns]. */
MG_INLINE void mg_batch_matmul_s8_matrix(const mg_batch_matmul_s8_params *p, const int8_t *lhs,
                                         const int8_t *rhs, int8_t *output, int requantization)
{
    for (int32_t i = 0; i < p->rows; i++) {
        for (int32_t j = 0; j < p->columns; j++) {
            output[i * p->columns + j] = mg_batch_matmul_s8_element(
                p, &lhs[i * p->lhs_row], &rhs[j * p->rhs_column], requantization);
        }
    }
}

/* Multiplies matrices lhs [rows][depth] by rhs [depth][columns] into output
 * [batches[0]][batches[1]][batches[2]][rows][columns]. `requantization` is MG_ROUND_TWICE or
 * MG_ROUND_FLOAT of microgen/requantization/scaling_s8.h.
 *
 * Output must not overlap an operand. The sum of products must fit int32, partial sums included. */
MG_INLINE void mg_batch_matmul_s8_body(const mg_batch_matmul_s8_params *p, const int8_t *lhs,
                                       const int8_t *rhs, int8_t *output, int requantization)
{
    int32_t batch = 0;

    for (int32_t a = 0; a < p->batches[0]; a++) {
        for (int32_t b = 0; b < p->batches[1]; b++) {
            for (int32_t c = 0; c < p->batches[2]; c++) {
                const int32_t left =
                    a * p->lhs_stride[0] + b * p->lhs_stride[1] + c * p->lhs_stride[2];
                const int32_t right =
                    a * p->rhs_stride[0] + b * p->rhs_stride[1] + c * p->rhs_stride[2];
                mg_batch_matmul_s8_matrix(p, &lhs[left], &rhs[right],
                                          &output[batch * p->rows * p->columns], requantization);
                batch++;
            }
        }
    }
}

#define MG_BATCH_MATMUL_S8_PROTOTYPE(name)                                                         \
    void name(const mg_batch_matmul_s8_params *p, const int8_t *lhs, const int8_t *rhs,            \
              int8_t *output)
#define MG_BATCH_MATMUL_S8_KERNEL(name, requantization)                                            \
    MG_BATCH_MATMUL_S8_PROTOTYPE(name);                                                            \
    MG_BATCH_MATMUL_S8_PROTOTYPE(name)                                                             \
    {                                                                                              \
        mg_batch_matmul_s8_body(p, lhs, rhs, output, requantization);                              \
    }

#endif
