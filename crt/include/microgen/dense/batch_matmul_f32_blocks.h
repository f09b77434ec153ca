/* SPDX-License-Identifier: Apache-2.0 */
/* Products of float32 matrices, four rows and four columns at a time, for cores with an FPU. */
#ifndef MICROGEN_BATCH_MATMUL_F32_BLOCKS_H
#define MICROGEN_BATCH_MATMUL_F32_BLOCKS_H

#include "microgen/blocks/tiles_f32.h"
#include "microgen/dense/batch_matmul.h"

typedef mg_batch_matmul_f32_params mg_batch_matmul_f32_blocks_params;

/* Adds the products of `depth` values of four rows, which are `row_step` apart, with as many values
 * of four neighbouring columns, which are `step` apart. */
#if MG_HAS_TILES_F32
/* In assembly as in microgen/blocks/tiles_f32.h: a pass of the loop adds two products to each sum.
 */
#define MG_FOUR_COLUMNS_F32(column, p, q, r, s)                                                    \
    "vldmia %[w], {s24-s27}\n\t"                                                                   \
    "add %[w], %[w], %[step]\n\t" column("s24", p, q, r, s, "s0", "s4", "s8", "s12")               \
        column("s25", p, q, r, s, "s1", "s5", "s9", "s13")                                         \
            column("s26", p, q, r, s, "s2", "s6", "s10", "s14")                                    \
                column("s27", p, q, r, s, "s3", "s7", "s11", "s15")

/* clang-format off */
#define MG_MATMUL_TILE_F32(column)                                                                 \
    __asm__ volatile(                                                                              \
        "vldmia %[state], {s0-s15}\n\t"                                                            \
        "cmp %[p], %[end]\n\t"                                                                     \
        "beq 2f\n"                                                                                 \
        "1:\n\t"                                                                                   \
        "vldmia %[p]!, {s16-s17}\n\t"                                                              \
        "vldmia %[q]!, {s18-s19}\n\t"                                                              \
        "vldmia %[r]!, {s20-s21}\n\t"                                                              \
        "vldmia %[s]!, {s22-s23}\n\t"                                                              \
        MG_FOUR_COLUMNS_F32(column, "s16", "s18", "s20", "s22")                                    \
        MG_FOUR_COLUMNS_F32(column, "s17", "s19", "s21", "s23")                                    \
        "cmp %[p], %[end]\n\t"                                                                     \
        "bne 1b\n"                                                                                 \
        "2:\n\t"                                                                                   \
        "cmp %[is_odd], #0\n\t"                                                                    \
        "beq 3f\n\t"                                                                               \
        "vldmia %[p]!, {s16}\n\t"                                                                  \
        "vldmia %[q]!, {s18}\n\t"                                                                  \
        "vldmia %[r]!, {s20}\n\t"                                                                  \
        "vldmia %[s]!, {s22}\n\t"                                                                  \
        MG_FOUR_COLUMNS_F32(column, "s16", "s18", "s20", "s22")                                    \
        "3:\n\t"                                                                                   \
        "vstmia %[state], {s0-s15}\n\t"                                                            \
        MG_TOTAL_F32                                                                               \
        "vstr.f32 s16, [%[state], #84]"                                                            \
        : [p] "+&r"(p), [q] "+&r"(q), [r] "+&r"(r), [s] "+&r"(s), [w] "+&r"(w)                     \
        : [end] "r"(end), [is_odd] "r"(is_odd), [step] "r"(bytes), [state] "r"(tile)               \
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",  \
          "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25",      \
          "s26", "s27", "s28", "s29", "s30", "s31", "cc", "memory")
/* clang-format on */

MG_INLINE void mg_matmul_separate_tile_f32(mg_tile_f32 *tile, const float *rows, int32_t row_step,
                                           const float *columns, int32_t step, int32_t depth)
{
    const float *p = rows;
    const float *q = &p[row_step];
    const float *r = &q[row_step];
    const float *s = &r[row_step];
    const float *w = columns;
    const float *end = &p[depth - depth % 2];
    const int32_t is_odd = depth % 2;
    const int32_t bytes = step * (int32_t)sizeof(float);

    MG_MATMUL_TILE_F32(MG_COLUMN_SEPARATE_F32);
}
#endif

MG_INLINE void mg_matmul_tile_f32(mg_tile_f32 *tile, const float *rows, int32_t row_step,
                                  const float *columns, int32_t step, int32_t depth, int fused)
{
#if MG_HAS_TILES_F32
    if (fused == MG_SEPARATE_F32) {
        mg_matmul_separate_tile_f32(tile, rows, row_step, columns, step, depth);
        return;
    }
#endif
    for (int32_t i = 0; i < depth; i++) {
        const float *w = &columns[i * step];
        const float *x = &rows[i];
        const mg_sums_f32 weights = {w[0], w[1], w[2], w[3]};
        tile->sums.p = mg_add_4_f32(tile->sums.p, x[0], weights, fused);
        tile->sums.q = mg_add_4_f32(tile->sums.q, x[row_step], weights, fused);
        tile->sums.r = mg_add_4_f32(tile->sums.r, x[2 * row_step], weights, fused);
        tile->sums.s = mg_add_4_f32(tile->sums.s, x[3 * row_step], weights, fused);
    }
}

/* Computes one matrix of the output. The last four rows and columns may be computed together with
 * some that are already known. */
MG_INLINE void mg_batch_matmul_f32_matrix(const mg_batch_matmul_shape *s, const float *lhs,
                                          const float *rhs, float *output, int fused)
{
    const mg_sums_f32 zeros = {0.0F, 0.0F, 0.0F, 0.0F};
    const mg_tile_reads_f32 reads = {1, s->depth, 0, 0, s->lhs_row, s->rhs_column};

    for (int32_t j = 0; j < s->columns; j += 4) {
        const int32_t column = (j + 4 <= s->columns) ? j : (s->columns - 4);
        const float *first = &rhs[column * s->rhs_column];
        for (int32_t i = 0; i < s->rows; i += 4) {
            const int32_t row = (i + 4 <= s->rows) ? i : (s->rows - 4);
            mg_tile_f32 tile;
            mg_begin_tile_f32(&tile, zeros);
            if (s->rhs_column == 1) {
                mg_matmul_tile_f32(&tile, &lhs[row * s->lhs_row], s->lhs_row, first, s->rhs_row,
                                   s->depth, fused);
            } else {
                mg_add_tile_f32(&tile, &reads, &lhs[row * s->lhs_row], first, fused);
            }
            mg_copy_16_f32(&tile.sums, &output[row * s->columns + column], s->columns);
        }
    }
}

/* Computes the same as mg_batch_matmul_f32_body, with products added as `fused` says. The left
 * matrix must not be transposed; there must be four or more rows, and columns. */
MG_INLINE void mg_batch_matmul_f32_blocks_body(const mg_batch_matmul_f32_blocks_params *p,
                                               const float *lhs, const float *rhs, float *output,
                                               int fused)
{
    const mg_batch_matmul_shape *s = &p->shape;

    for (int32_t batch = 0; batch < mg_batch_count(s); batch++) {
        const mg_matrices at = mg_matrices_at(s, batch);
        mg_batch_matmul_f32_matrix(s, &lhs[at.lhs], &rhs[at.rhs],
                                   &output[batch * s->rows * s->columns], fused);
    }
}

#define MG_BATCH_MATMUL_F32_BLOCKS_PROTOTYPE(name)                                                 \
    MG_BATCH_MATMUL_OUT_OF_LINE(name, mg_batch_matmul_f32_blocks, float)
#define MG_BATCH_MATMUL_F32_BLOCKS_KERNEL(name, fused)                                             \
    MG_BATCH_MATMUL_KERNEL(name, mg_batch_matmul_f32_blocks, float, fused)

#endif
