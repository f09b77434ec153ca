/* SPDX-License-Identifier: Apache-2.0 */
/* Products of float32 matrices for MVE with floats: four rows and four columns at a time. */
#ifndef MICROGEN_BATCH_MATMUL_F32_MVE_H
#define MICROGEN_BATCH_MATMUL_F32_MVE_H

#include "microgen/blocks/blocks_f32_mve.h"
#include "microgen/dense/batch_matmul.h"
#include "microgen/out_of_line.h"

typedef mg_batch_matmul_f32_params mg_batch_matmul_f32_mve_params;

/* Computes the same as mg_batch_matmul_f32, except that products are fused with additions. The left
 * matrix must not be transposed; there must be four or more rows, and columns. */
MG_DECLARE_BINARY(mg_batch_matmul_f32_mve, float, float);

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)

/* The products of four rows from `row` on with four columns. */
MG_INLINE mg_mve_sums_f32 mg_mve_matmul_f32_tile(const mg_batch_matmul_shape *s, const float *row,
                                                 const float *column)
{
    const float32x4_t zeros = vdupq_n_f32(0.0F);
    const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)s->rhs_column);
    const float *p = row;
    const float *q = &p[s->lhs_row];
    const float *r = &q[s->lhs_row];
    const float *t = &r[s->lhs_row];
    mg_mve_sums_f32 sums = {zeros, zeros, zeros, zeros};

    for (int32_t k = 0; k < s->depth; k++) {
        const float32x4_t w = (s->rhs_column == 1)
                                  ? vldrwq_f32(column)
                                  : vldrwq_gather_shifted_offset_f32(column, places);
        sums.p = vfmaq_n_f32(sums.p, w, *p++);
        sums.q = vfmaq_n_f32(sums.q, w, *q++);
        sums.r = vfmaq_n_f32(sums.r, w, *r++);
        sums.s = vfmaq_n_f32(sums.s, w, *t++);
        column += s->rhs_row;
    }
    return sums;
}

/* Computes one matrix of the output. The last four rows and columns may be computed together with
 * some that are already known. */
MG_INLINE void mg_mve_matmul_f32_matrix(const mg_batch_matmul_shape *s, const float *lhs,
                                        const float *rhs, float *output)
{
    for (int32_t i = 0; i < s->rows; i += 4) {
        const int32_t row = (i + 4 <= s->rows) ? i : (s->rows - 4);
        for (int32_t j = 0; j < s->columns; j += MG_MVE_FLOATS) {
            const int32_t last = s->columns - MG_MVE_FLOATS;
            const int32_t column = (j < last) ? j : last;
            const mg_mve_sums_f32 sums =
                mg_mve_matmul_f32_tile(s, &lhs[row * s->lhs_row], &rhs[column * s->rhs_column]);
            float *to = &output[row * s->columns + column];
            vstrwq_f32(to, sums.p);
            vstrwq_f32(to + s->columns, sums.q);
            vstrwq_f32(to + 2 * s->columns, sums.r);
            vstrwq_f32(to + 3 * s->columns, sums.s);
        }
    }
}

MG_INLINE void mg_batch_matmul_f32_mve_body(const mg_batch_matmul_f32_mve_params *p,
                                            const float *lhs, const float *rhs, float *output)
{
    const mg_batch_matmul_shape *s = &p->shape;

    for (int32_t batch = 0; batch < mg_batch_count(s); batch++) {
        const mg_matrices at = mg_matrices_at(s, batch);
        mg_mve_matmul_f32_matrix(s, &lhs[at.lhs], &rhs[at.rhs],
                                 &output[batch * s->rows * s->columns]);
    }
}

#ifdef MG_BATCH_MATMUL_F32_MVE_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_BINARY(mg_batch_matmul_f32_mve, float, float)
#endif

#endif

#endif
