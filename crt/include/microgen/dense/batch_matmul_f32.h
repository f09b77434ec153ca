/* SPDX-License-Identifier: Apache-2.0 */
/* Products of float32 matrices, with broadcast batches. */
#ifndef MICROGEN_BATCH_MATMUL_F32_H
#define MICROGEN_BATCH_MATMUL_F32_H

#include "microgen/dense/batch_matmul.h"

typedef struct {
    mg_batch_matmul_shape shape;
} mg_batch_matmul_f32_params;

/* Multiplies matrices lhs [rows][depth] by rhs [depth][columns] into output
 * [batches[0]][batches[1]][batches[2]][rows][columns]. Products are added in the order of the
 * depth, starting from the first. Output must not overlap an operand. */
MG_DECLARE_BINARY(mg_batch_matmul_f32, float, float);

/* The product of a row and a column. */
MG_INLINE float mg_batch_matmul_f32_element(const mg_batch_matmul_shape *s, const float *row,
                                            const float *column)
{
    float sum = 0.0F;

    for (int32_t k = 0; k < s->depth; k++) {
        sum += row[k * s->lhs_column] * column[k * s->rhs_row];
    }
    return sum;
}

MG_INLINE void mg_batch_matmul_f32_body(const mg_batch_matmul_f32_params *p, const float *lhs,
                                        const float *rhs, float *output)
{
    const mg_batch_matmul_shape *s = &p->shape;

    MG_BATCH_MATMUL(mg_batch_matmul_f32_element, s, s, float, lhs, rhs, output);
}

#ifdef MG_BATCH_MATMUL_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_BINARY(mg_batch_matmul_f32, float, float)
#endif

#endif
