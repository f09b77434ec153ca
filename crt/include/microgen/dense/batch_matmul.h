/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices, with broadcast batches. */
#ifndef MICROGEN_BATCH_MATMUL_H
#define MICROGEN_BATCH_MATMUL_H

#include "microgen/requantization/requantize_s16.h"
#include "microgen/requantization/scaling_s8.h"

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

/* Computes all matrices of the batch: matrix(p, lhs, rhs, output, the other arguments), where the
 * pointers are to the first values of the three matrices. A macro, so that `matrix` is inlined. */
#define MG_BATCH_MATMUL_S8(matrix, p, lhs, rhs, output, ...)                                       \
    do {                                                                                           \
        int32_t batch_ = 0;                                                                        \
        for (int32_t a_ = 0; a_ < (p)->batches[0]; a_++) {                                         \
            for (int32_t b_ = 0; b_ < (p)->batches[1]; b_++) {                                     \
                for (int32_t c_ = 0; c_ < (p)->batches[2]; c_++) {                                 \
                    const int32_t left_ = a_ * (p)->lhs_stride[0] + b_ * (p)->lhs_stride[1] +      \
                                          c_ * (p)->lhs_stride[2];                                 \
                    const int32_t right_ = a_ * (p)->rhs_stride[0] + b_ * (p)->rhs_stride[1] +     \
                                           c_ * (p)->rhs_stride[2];                                \
                    matrix((p), &(lhs)[left_], &(rhs)[right_],                                     \
                           &(output)[batch_ * (p)->rows * (p)->columns], __VA_ARGS__);             \
                    batch_++;                                                                      \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Multiplies matrices lhs [rows][depth] by rhs [depth][columns] into output
 * [batches[0]][batches[1]][batches[2]][rows][columns]. `requantization` is MG_ROUND_TWICE,
 * MG_ROUND_NEAREST or MG_ROUND_FLOAT of microgen/requantization/scaling_s8.h.
 *
 * Output must not overlap an operand. The sum of products must fit int32, partial sums included. */
MG_INLINE void mg_batch_matmul_s8_body(const mg_batch_matmul_s8_params *p, const int8_t *lhs,
                                       const int8_t *rhs, int8_t *output, int requantization)
{
    MG_BATCH_MATMUL_S8(mg_batch_matmul_s8_matrix, p, lhs, rhs, output, requantization);
}

/* The out-of-line forms of bodies with a constant. `type` is that of elements. */
#define MG_BATCH_MATMUL_OUT_OF_LINE(name, body, type)                                              \
    void name(const body##_params *p, const type *lhs, const type *rhs, type *output)
#define MG_BATCH_MATMUL_KERNEL(name, body, type, constant)                                         \
    MG_BATCH_MATMUL_OUT_OF_LINE(name, body, type);                                                 \
    MG_BATCH_MATMUL_OUT_OF_LINE(name, body, type)                                                  \
    {                                                                                              \
        body##_body(p, lhs, rhs, output, constant);                                                \
    }

#define MG_BATCH_MATMUL_S8_PROTOTYPE(name)                                                         \
    MG_BATCH_MATMUL_OUT_OF_LINE(name, mg_batch_matmul_s8, int8_t)
#define MG_BATCH_MATMUL_S8_KERNEL(name, requantization)                                            \
    MG_BATCH_MATMUL_KERNEL(name, mg_batch_matmul_s8, int8_t, requantization)

#ifdef MG_BATCH_MATMUL_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_BINARY(mg_batch_matmul_f32, float, float)
MG_DEFINE_BINARY(mg_batch_matmul_s16, int16_t, int16_t)
#endif

#endif
