/* SPDX-License-Identifier: Apache-2.0 */
/* Products of int8 matrices, four columns of the right one at a time, for the Arm DSP extension. */
#ifndef MICROGEN_BATCH_MATMUL_S8_BLOCKS_H
#define MICROGEN_BATCH_MATMUL_S8_BLOCKS_H

#include "microgen/blocks/blocks_s8.h"
#include "microgen/dense/batch_matmul.h"

typedef mg_batch_matmul_s8_params mg_batch_matmul_s8_blocks_params;

/* Words of four values of each of four columns, which are widened: for each column the values 0 and
 * 2, and 1 and 3. */
enum {
    MG_MATMUL_QUAD = 8
};

/* A value of a column, without its zero point, as the lower half of a word; 0 after its end. */
MG_INLINE uint32_t mg_batch_matmul_s8_value(const mg_batch_matmul_s8_params *p,
                                            const int8_t *column, int32_t k)
{
    return (k < p->depth) ? (uint32_t)(column[k * p->rhs_row] + p->rhs_offset) : 0U;
}

/* The last values of four columns, whose number is no multiple of four. */
MG_INLINE void mg_batch_matmul_s8_pack_left(const mg_batch_matmul_s8_params *p, const int8_t *rhs,
                                            int32_t k, uint32_t *to)
{
    for (int32_t c = 0; c < 4; c++) {
        const int8_t *const column = &rhs[c * p->rhs_column];
        to[2 * c] = mg_low_halves(mg_batch_matmul_s8_value(p, column, k),
                                  mg_batch_matmul_s8_value(p, column, k + 2));
        to[2 * c + 1] = mg_low_halves(mg_batch_matmul_s8_value(p, column, k + 1), 0);
    }
}

/* Widens four rows of four values, and exchanges rows and columns. */
MG_INLINE void mg_batch_matmul_s8_pack_rows(const int8_t *rhs, int32_t row, uint32_t offsets,
                                            uint32_t *to)
{
    uint32_t even[4];
    uint32_t odd[4];

    for (int32_t i = 0; i < 4; i++) {
        const uint32_t values = mg_load_4_s8(&rhs[i * row]);
        even[i] = mg_sxtab16(offsets, values);
        odd[i] = mg_sxtab16_odd(offsets, values);
    }
    to[0] = mg_low_halves(even[0], even[2]);
    to[1] = mg_low_halves(even[1], even[3]);
    to[2] = mg_low_halves(odd[0], odd[2]);
    to[3] = mg_low_halves(odd[1], odd[3]);
    to[4] = mg_high_halves(even[0], even[2]);
    to[5] = mg_high_halves(even[1], even[3]);
    to[6] = mg_high_halves(odd[0], odd[2]);
    to[7] = mg_high_halves(odd[1], odd[3]);
}

/* Packs four columns. Either their values or the values of rows are contiguous. */
MG_INLINE void mg_batch_matmul_s8_pack(const mg_batch_matmul_s8_params *p, const int8_t *rhs,
                                       uint32_t *to)
{
    const uint32_t offsets = mg_twice_s16(p->rhs_offset);
    const int32_t whole = p->depth - p->depth % 4;

    for (int32_t k = 0; k < whole; k += 4) {
        if (p->rhs_column == 1) {
            mg_batch_matmul_s8_pack_rows(&rhs[k * p->rhs_row], p->rhs_row, offsets, to);
        } else {
            for (int32_t c = 0; c < 4; c++) {
                const uint32_t values = mg_load_4_s8(&rhs[c * p->rhs_column + k]);
                to[2 * c] = mg_sxtab16(offsets, values);
                to[2 * c + 1] = mg_sxtab16_odd(offsets, values);
            }
        }
        to += MG_MATMUL_QUAD;
    }
    if (whole < p->depth) {
        mg_batch_matmul_s8_pack_left(p, rhs, whole, to);
    }
}

/* Adds the products of four values with four columns. Returns the next values of the columns. */
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__)

/* GCC would load all columns first, and move sums to the stack for them. */
#define MG_MATMUL_COLUMN(sum)                                                                      \
    "ldrd %[x], %[y], [%[columns]], #8\n"                                                          \
    "smlad %[" sum "], %[even], %[x], %[" sum "]\n"                                                \
    "smlad %[" sum "], %[odd], %[y], %[" sum "]\n"

MG_INLINE const uint32_t *mg_batch_matmul_s8_add(mg_sums *sums, uint32_t values, uint32_t offsets,
                                                 const uint32_t *columns)
{
    const uint32_t even = mg_sxtab16(offsets, values);
    const uint32_t odd = mg_sxtab16_odd(offsets, values);
    uint32_t x;
    uint32_t y;

    __asm__(MG_MATMUL_COLUMN("a") MG_MATMUL_COLUMN("b") MG_MATMUL_COLUMN("c") MG_MATMUL_COLUMN("d")
            : [a] "+r"(sums->a), [b] "+r"(sums->b), [c] "+r"(sums->c), [d] "+r"(sums->d),
              [columns] "+r"(columns), [x] "=&r"(x), [y] "=&r"(y)
            : [even] "r"(even), [odd] "r"(odd)
            : "memory");
    return columns;
}

#else

MG_INLINE const uint32_t *mg_batch_matmul_s8_add(mg_sums *sums, uint32_t values, uint32_t offsets,
                                                 const uint32_t *columns)
{
    const uint32_t even = mg_sxtab16(offsets, values);
    const uint32_t odd = mg_sxtab16_odd(offsets, values);

    sums->a = mg_smlad(odd, columns[1], mg_smlad(even, columns[0], sums->a));
    sums->b = mg_smlad(odd, columns[3], mg_smlad(even, columns[2], sums->b));
    sums->c = mg_smlad(odd, columns[5], mg_smlad(even, columns[4], sums->c));
    sums->d = mg_smlad(odd, columns[7], mg_smlad(even, columns[6], sums->d));
    return columns + MG_MATMUL_QUAD;
}

#endif

/* The products of a row with four columns. */
MG_INLINE mg_sums mg_batch_matmul_s8_dot(const int8_t *values, const uint32_t *columns,
                                         int32_t depth, int32_t offset)
{
    const uint32_t offsets = mg_twice_s16(offset);
    const int8_t *const end = values + (depth - depth % 4);
    mg_sums sums = {0, 0, 0, 0};

    for (; values != end; values += 4) {
        columns = mg_batch_matmul_s8_add(&sums, mg_load_4_s8(values), offsets, columns);
    }
    if (depth % 4 != 0) {
        uint32_t left = 0;
        for (int32_t i = 0; i < depth % 4; i++) {
            left |= (uint32_t)(uint8_t)values[i] << (8 * i);
        }
        (void)mg_batch_matmul_s8_add(&sums, left, offsets, columns);
    }
    return sums;
}

/* The values of a row, which are copied if they are not contiguous. */
MG_INLINE const int8_t *mg_batch_matmul_s8_row(const mg_batch_matmul_s8_params *p,
                                               const int8_t *row, int8_t *copy)
{
    if (p->lhs_column == 1) {
        return row;
    }
    for (int32_t k = 0; k < p->depth; k++) {
        copy[k] = row[k * p->lhs_column];
    }
    return copy;
}

/* Computes one matrix of the batch. The last four columns may overlap the four before. */
MG_INLINE void mg_batch_matmul_s8_columns(const mg_batch_matmul_s8_params *p, const int8_t *lhs,
                                          const int8_t *rhs, int8_t *output, uint32_t *packed,
                                          int requantization)
{
    const mg_scaling s = {NULL, NULL, p->output_offset, INT8_MIN, INT8_MAX};
    int8_t *const copy = (int8_t *)&packed[MG_MATMUL_QUAD * ((p->depth + 3) / 4)];

    for (int32_t next = 0; next < p->columns; next += 4) {
        const int32_t j = (next < p->columns - 4) ? next : p->columns - 4;
        int8_t *to = &output[j];
        mg_batch_matmul_s8_pack(p, &rhs[j * p->rhs_column], packed);
        for (int32_t i = 0; i < p->rows; i++) {
            const int8_t *const row = mg_batch_matmul_s8_row(p, &lhs[i * p->lhs_row], copy);
            const mg_sums sums = mg_batch_matmul_s8_dot(row, packed, p->depth, p->lhs_offset);
            to[0] = mg_scaled_by(&s, sums.a, p->multiplier, p->shift, requantization);
            to[1] = mg_scaled_by(&s, sums.b, p->multiplier, p->shift, requantization);
            to[2] = mg_scaled_by(&s, sums.c, p->multiplier, p->shift, requantization);
            to[3] = mg_scaled_by(&s, sums.d, p->multiplier, p->shift, requantization);
            to += p->columns;
        }
    }
}

/* Computes the same as mg_batch_matmul_s8_body with the same arguments, but also with
 * MG_ROUND_TWICE_NARROW, MG_ROUND_FLOAT_NARROW and MG_ROUND_FLOAT_FPU, whose multiplier and shift
 * are those of microgen/requantization/scaling_s8.h. There are four columns or more. The scratch
 * memory, aligned to 4 bytes, has MG_MATMUL_QUAD words for each four rows of rhs, rounded up, and a
 * row of lhs if its values are not contiguous. */
MG_INLINE void mg_batch_matmul_s8_blocks_body(const mg_batch_matmul_s8_params *p, const int8_t *lhs,
                                              const int8_t *rhs, int8_t *output, uint8_t *scratch,
                                              int requantization)
{
    MG_BATCH_MATMUL_S8(mg_batch_matmul_s8_columns, p, lhs, rhs, output, (uint32_t *)(void *)scratch,
                       requantization);
}

#define MG_BATCH_MATMUL_S8_BLOCKS_PROTOTYPE(name)                                                  \
    void name(const mg_batch_matmul_s8_blocks_params *p, const int8_t *lhs, const int8_t *rhs,     \
              int8_t *output, uint8_t *scratch)
#define MG_BATCH_MATMUL_S8_BLOCKS_KERNEL(name, requantization)                                     \
    MG_BATCH_MATMUL_S8_BLOCKS_PROTOTYPE(name);                                                     \
    MG_BATCH_MATMUL_S8_BLOCKS_PROTOTYPE(name)                                                      \
    {                                                                                              \
        mg_batch_matmul_s8_blocks_body(p, lhs, rhs, output, scratch, requantization);              \
    }

#endif
