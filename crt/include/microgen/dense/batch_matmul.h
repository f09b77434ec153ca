/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of the matrices of a batch, for products of any element type. */
#ifndef MICROGEN_BATCH_MATMUL_H
#define MICROGEN_BATCH_MATMUL_H

#include "microgen/inline.h"

/* The first parameters of all kernels. */
#define MG_BATCH_MATMUL_SHAPE                                                                      \
    int32_t batches[3];    /* of the output */                                                     \
    int32_t rows;          /* of the left matrix and of the output's */                            \
    int32_t depth;         /* columns of the left matrix, rows of the right one */                 \
    int32_t columns;       /* of the right matrix and of the output's */                           \
    int32_t lhs_stride[3]; /* elements from one batch to the next; 0: broadcast */                 \
    int32_t lhs_row;       /* elements between rows */                                             \
    int32_t lhs_column;    /* between columns; a transposed matrix has row and column swapped */   \
    int32_t rhs_stride[3]; /* the same for the right operand */                                    \
    int32_t rhs_row;                                                                               \
    int32_t rhs_column;

typedef struct {
    MG_BATCH_MATMUL_SHAPE
} mg_batch_matmul_shape;

/* Indices of the first elements of two matrices. */
typedef struct {
    int32_t lhs;
    int32_t rhs;
} mg_matrices;

MG_INLINE int32_t mg_batch_count(const mg_batch_matmul_shape *s)
{
    return s->batches[0] * s->batches[1] * s->batches[2];
}

/* The two matrices whose product is matrix number `batch` of the output. */
MG_INLINE mg_matrices mg_matrices_at(const mg_batch_matmul_shape *s, int32_t batch)
{
    const int32_t c = batch % s->batches[2];
    const int32_t b = batch / s->batches[2] % s->batches[1];
    const int32_t a = batch / s->batches[2] / s->batches[1];
    const mg_matrices found = {
        a * s->lhs_stride[0] + b * s->lhs_stride[1] + c * s->lhs_stride[2],
        a * s->rhs_stride[0] + b * s->rhs_stride[1] + c * s->rhs_stride[2],
    };
    return found;
}

/* Computes all elements of the output, whose type is `type`, in order: element(e, row, column),
 * where `row` and `column` point to the first values of a row of lhs and of a column of rhs. This
 * is a macro so that `element` works for any types and is inlined at every optimisation level. */
#define MG_BATCH_MATMUL(element, e, s, type, lhs, rhs, output)                                     \
    do {                                                                                           \
        type *next_ = (output);                                                                    \
        for (int32_t batch_ = 0; batch_ < mg_batch_count(s); batch_++) {                           \
            const mg_matrices at_ = mg_matrices_at((s), batch_);                                   \
            for (int32_t i_ = 0; i_ < (s)->rows; i_++) {                                           \
                for (int32_t j_ = 0; j_ < (s)->columns; j_++) {                                    \
                    *next_++ = element((e), &(lhs)[at_.lhs + i_ * (s)->lhs_row],                   \
                                       &(rhs)[at_.rhs + j_ * (s)->rhs_column]);                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#endif
