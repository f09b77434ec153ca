/* SPDX-License-Identifier: Apache-2.0 */
/* Products of float32 matrices, tiles of rows and four columns at a time, for cores with an FPU. */
#ifndef MICROGEN_BATCH_MATMUL_F32_BLOCKS_H
#define MICROGEN_BATCH_MATMUL_F32_BLOCKS_H

#include "microgen/blocks/tiles_f32.h"
#include "microgen/dense/batch_matmul.h"

typedef mg_batch_matmul_f32_params mg_batch_matmul_f32_blocks_params;

/* Adds the products of `depth` values of a tile's rows, which are `row_step` apart, with as many
 * values of four neighbouring columns, which are `step` apart. */
#if MG_HAS_TILES_F32
/* In assembly as in microgen/blocks/tiles_f32.h. */
#define MG_FOUR_COLUMNS_F32(p, q, r)                                                               \
    "vldmia %[w], {s24-s27}\n\t" MG_NEXT_F32("w", "step")                                          \
        MG_COLUMN_F32("s24", p, q, r, "s0", "s4", "s8")                                            \
            MG_COLUMN_F32("s25", p, q, r, "s1", "s5", "s9")                                        \
                MG_COLUMN_F32("s26", p, q, r, "s2", "s6", "s10")                                   \
                    MG_COLUMN_F32("s27", p, q, r, "s3", "s7", "s11")

/* clang-format off */
#define MG_MATMUL_TILE_F32                                                                         \
    __asm__ volatile(                                                                              \
        MG_LOAD_3_F32("end", "word")                                                               \
        "ldr %[word], [%[state], #64]\n\t"                                                         \
        "ldr %[a], [%[state], #68]\n\t"                                                            \
        "adds %[end], %[p], %[word]\n\t"                                                           \
        "cmp %[p], %[end]\n\t"                                                                     \
        "beq 2f\n"                                                                                 \
        "1:\n\t"                                                                                   \
        MG_VALUES_F32(MG_FOUR_F32)                                                                 \
        MG_FOUR_COLUMNS_F32("s12", "s16", "s20")                                                   \
        MG_FOUR_COLUMNS_F32("s13", "s17", "s21")                                                   \
        MG_FOUR_COLUMNS_F32("s14", "s18", "s22")                                                   \
        MG_FOUR_COLUMNS_F32("s15", "s19", "s23")                                                   \
        "cmp %[p], %[end]\n\t"                                                                     \
        "bne 1b\n"                                                                                 \
        "2:\n\t"                                                                                   \
        "cmp %[a], #0\n\t"                                                                         \
        "beq 4f\n"                                                                                 \
        "3:\n\t"                                                                                   \
        MG_VALUES_F32(MG_ONE_F32)                                                                  \
        MG_FOUR_COLUMNS_F32("s12", "s16", "s20")                                                   \
        "subs %[a], %[a], #1\n\t"                                                                  \
        "bne 3b\n"                                                                                 \
        "4:\n\t"                                                                                   \
        MG_STORES_F32(MG_TOTAL_3_F32, MG_EACH_3_F32)                                               \
        : [p] "+&r"(p), [q] "+&r"(q), [r] "+&r"(r), [w] "+&r"(w), [a] "=&r"(left),                 \
          [word] "=&r"(word), [end] "=&r"(end)                                                     \
        : [step] "r"(bytes), [state] "r"(tile)                                                     \
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",  \
          "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25",      \
          "s26", "s27", "s28", "s29", "s30", "cc", "memory")
/* clang-format on */

MG_INLINE void mg_matmul_separate_tile_f32(mg_tile_f32 *tile, const float *rows, int32_t row_step,
                                           const float *columns, int32_t step)
{
    const float *p = rows;
    const float *q = &p[row_step];
    const float *r = &q[row_step];
    const float *w = columns;
    const float *end;
    const int32_t bytes = step * (int32_t)sizeof(float);
    int32_t left;
    int32_t word;

    MG_MATMUL_TILE_F32;
}
#endif

MG_INLINE void mg_matmul_tile_f32(mg_tile_f32 *tile, const mg_batch_matmul_shape *s,
                                  const float *rows, const float *columns,
                                  mg_tile_outputs_f32 outputs, int fused)
{
#if MG_HAS_TILES_F32
    if (fused == MG_SEPARATE_F32) {
        mg_aim_tile_f32(tile, outputs, 1);
        mg_matmul_separate_tile_f32(tile, rows, s->lhs_row, columns, s->rhs_row);
        return;
    }
#else
    (void)outputs;
#endif
    for (int32_t i = 0; i < s->depth; i++) {
        const float *w = &columns[i * s->rhs_row];
        const float *x = &rows[i];
        const mg_sums_f32 weights = {w[0], w[1], w[2], w[3]};
        tile->sums.p = mg_add_4_f32(tile->sums.p, x[0], weights, fused);
        tile->sums.q = mg_add_4_f32(tile->sums.q, x[s->lhs_row], weights, fused);
        tile->sums.r = mg_add_4_f32(tile->sums.r, x[2 * s->lhs_row], weights, fused);
        tile->sums.s = mg_add_4_f32(tile->sums.s, x[3 * s->lhs_row], weights, fused);
    }
}

/* Computes one matrix of the output. The last rows and columns may be computed together with some
 * that are already known. */
MG_INLINE void mg_batch_matmul_f32_matrix(const mg_batch_matmul_shape *s, const float *lhs,
                                          const float *rhs, float *output, int fused)
{
    const mg_range_f32 all = {-FLT_MAX, FLT_MAX};
    const int32_t rows = MG_TILE_PIXELS_F32(fused);
    const mg_tile_reads_f32 reads = {1, s->depth, 0, 0, s->lhs_row, s->rhs_column};
    mg_tile_f32 tile;

    mg_set_tile_f32(&tile, &reads);
    for (int32_t j = 0; j < s->columns; j += 4) {
        const int32_t column = (j + 4 <= s->columns) ? j : (s->columns - 4);
        const float *first = &rhs[column * s->rhs_column];
        for (int32_t i = 0; i < s->rows; i += rows) {
            const int32_t row = (i + rows <= s->rows) ? i : (s->rows - rows);
            const mg_tile_outputs_f32 outputs = {&output[row * s->columns + column], s->columns,
                                                 all};
            mg_begin_tile_f32(&tile, NULL, 0, fused);
            if (s->rhs_column == 1) {
                mg_matmul_tile_f32(&tile, s, &lhs[row * s->lhs_row], first, outputs, fused);
            } else {
                mg_add_tile_f32(&tile, &reads, &lhs[row * s->lhs_row], first, outputs, 1, fused);
            }
            if (fused != MG_SEPARATE_F32 || MG_HAS_TILES_F32 == 0) {
                mg_copy_16_f32(&tile.sums, outputs.first, s->columns);
            }
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
