/* SPDX-License-Identifier: Apache-2.0 */
/* Products of int8 matrices, four columns of the right one at a time, for MVE. */
#ifndef MICROGEN_BATCH_MATMUL_S8_MVE_H
#define MICROGEN_BATCH_MATMUL_S8_MVE_H

#include "microgen/blocks/mve_rows.h"
#include "microgen/dense/batch_matmul.h"

typedef mg_batch_matmul_s8_params mg_batch_matmul_s8_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* Four columns: where they are, and what each adds to its products with any row, which are of the
 * values with their zero points. Columns that are missing are the last one again. */
typedef struct {
    const int8_t *column[MG_MVE_ROWS];
    int32x4_t share;
    int32_t count;
} mg_matmul_columns;

/* The sums of four columns, contiguous or not. */
MG_INLINE int32x4_t mg_batch_matmul_s8_mve_sums(const mg_batch_matmul_s8_params *p,
                                                const int8_t *rhs, uint32x4_t places)
{
    int32x4_t sums = vdupq_n_s32(0);

    for (int32_t k = p->depth; k > 0; k--) {
        sums = vaddq_s32(sums, vldrbq_gather_offset_s32(rhs, places));
        rhs += p->rhs_row;
    }
    return sums;
}

/* The columns from j on. They are copied to `copies` if their values are not contiguous. */
MG_INLINE mg_matmul_columns mg_batch_matmul_s8_mve_columns(const mg_batch_matmul_s8_params *p,
                                                           const int8_t *rhs, int32_t j,
                                                           int8_t *copies)
{
    const int32_t left = p->columns - j;
    const int32_t count = (left < MG_MVE_ROWS) ? left : MG_MVE_ROWS;
    const uint32x4_t lanes = vminq_u32(vidupq_n_u32(0, 1), vdupq_n_u32((uint32_t)count - 1U));
    const uint32x4_t places = vmulq_n_u32(lanes, (uint32_t)p->rhs_column);
    const int8_t *first = &rhs[j * p->rhs_column];
    const int32x4_t sums = mg_batch_matmul_s8_mve_sums(p, first, places);
    mg_matmul_columns found = {
        {NULL, NULL, NULL, NULL},
        vmulq_n_s32(vaddq_n_s32(sums, p->depth * p->rhs_offset), p->lhs_offset),
        count};
    int32_t step = p->rhs_column;

    if (p->rhs_row != 1) {
        const uint32x4_t apart = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)p->depth);
        for (int32_t k = 0; k < p->depth; k++) {
            const int32x4_t values = vldrbq_gather_offset_s32(&first[k * p->rhs_row], places);
            vstrbq_scatter_offset_s32(&copies[k], apart, values);
        }
        first = copies;
        step = p->depth;
    }
    for (int32_t i = 0; i < MG_MVE_ROWS; i++) {
        found.column[i] = &first[((i < count) ? i : 0) * step];
    }
    return found;
}

/* Scales the sums of four columns for one row, and stores those that exist. */
MG_INLINE void mg_batch_matmul_s8_mve_store(const mg_batch_matmul_s8_params *p, int32x4_t sums,
                                            int32_t count, int8_t *output, int requantization)
{
    int32x4_t scaled = sums;

#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        scaled = mg_mve_scaled_in_float(sums, vdupq_n_s32(p->multiplier));
    }
#endif
    if (requantization == MG_ROUND_TWICE) {
        scaled = mg_mve_requantize_n(sums, p->multiplier, p->shift);
    }
    vstrbq_p_s32(output, mg_mve_offset_and_clamp(scaled, p->output_offset, INT8_MIN, INT8_MAX),
                 vctp32q((uint32_t)count));
}

/* Computes one matrix of the batch. */
MG_INLINE void mg_batch_matmul_s8_mve_matrix(const mg_batch_matmul_s8_params *p, const int8_t *lhs,
                                             const int8_t *rhs, int8_t *output, int8_t *copies,
                                             int requantization)
{
    int8_t *const values = copies + ((p->rhs_row != 1) ? MG_MVE_ROWS * p->depth : 0);

    for (int32_t j = 0; j < p->columns; j += MG_MVE_ROWS) {
        const mg_matmul_columns columns = mg_batch_matmul_s8_mve_columns(p, rhs, j, copies);
        for (int32_t i = 0; i < p->rows; i++) {
            const int8_t *row = &lhs[i * p->lhs_row];
            if (p->lhs_column != 1) {
                for (int32_t k = 0; k < p->depth; k++) {
                    values[k] = row[k * p->lhs_column];
                }
                row = values;
            }
            const mg_mve_dots dots = mg_mve_dots_of(row, columns.column, p->depth);
            const int32x4_t sums = mg_mve_four(dots.a, dots.b, dots.c, dots.d);
            mg_batch_matmul_s8_mve_store(
                p, vaddq_n_s32(vaddq_s32(sums, columns.share), dots.values * p->rhs_offset),
                columns.count, &output[i * p->columns + j], requantization);
        }
    }
}

/* Computes the same as mg_batch_matmul_s8_body with the same arguments. `requantization` is
 * MG_ROUND_TWICE or MG_ROUND_FLOAT_FPU. The scratch memory has four columns, if their values are
 * not contiguous, and one row, if its values are not. */
MG_INLINE void mg_batch_matmul_s8_mve_body(const mg_batch_matmul_s8_params *p, const int8_t *lhs,
                                           const int8_t *rhs, int8_t *output, uint8_t *scratch,
                                           int requantization)
{
    MG_BATCH_MATMUL_S8(mg_batch_matmul_s8_mve_matrix, p, lhs, rhs, output, (int8_t *)scratch,
                       requantization);
}

#define MG_BATCH_MATMUL_S8_MVE_KERNEL(name, requantization)                                        \
    MG_BATCH_MATMUL_S8_MVE_PROTOTYPE(name);                                                        \
    MG_BATCH_MATMUL_S8_MVE_PROTOTYPE(name)                                                         \
    {                                                                                              \
        mg_batch_matmul_s8_mve_body(p, lhs, rhs, output, scratch, requantization);                 \
    }

#else

#define MG_BATCH_MATMUL_S8_MVE_KERNEL(name, requantization) MG_BATCH_MATMUL_S8_MVE_PROTOTYPE(name);

#endif

#define MG_BATCH_MATMUL_S8_MVE_PROTOTYPE(name)                                                     \
    void name(const mg_batch_matmul_s8_mve_params *p, const int8_t *lhs, const int8_t *rhs,        \
              int8_t *output, uint8_t *scratch)

#endif
