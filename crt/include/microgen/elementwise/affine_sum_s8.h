/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and differences of int8 tensors as one affine function of both values.
 *
 * out = clamp((lhs * A + rhs * B + C) >> shift). The three numbers are found when the project is
 * generated (microgen/graph/arithmetic/affine.py), and they are used only if all 65,536 pairs of
 * values give exactly what the operator's reference gives. They have the scales of both operands,
 * all zero points and the rounding. */
#ifndef MICROGEN_AFFINE_SUM_S8_H
#define MICROGEN_AFFINE_SUM_S8_H

#include "microgen/arithmetic/saturate.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    MG_PAIR_ROWS
    int32_t shift;          /* 0 to 30 */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* the same; activation_min or more */
} mg_affine_sum_s8_params;

/* Computes output [rows][size]. coefficient is A, B and C, for which
 * 128 * (|A| + |B|) + |C| is less than 2^31, so nothing exceeds int32.
 *
 * Output may be the same buffer as an operand that is not broadcast; otherwise it must not overlap
 * an operand. */
MG_EXTERN void mg_affine_sum_s8(MG_ARGUMENTS_PAIR_ROWS(mg_affine_sum_s8));

/* The stored value of a sum. */
MG_INLINE int8_t mg_affine_sum_s8_stored(const mg_affine_sum_s8_params *p, int32_t sum)
{
    return mg_clamp_s8(mg_shift_right(sum, p->shift), p->activation_min, p->activation_max);
}

/* A row of two operands, neither of them broadcast, four elements at a time. */
MG_INLINE void mg_affine_sum_s8_row(const mg_affine_sum_s8_params *p, const int8_t *lhs,
                                    const int8_t *rhs, const int32_t coefficient[3], int8_t *output)
{
    const int32_t a = coefficient[0];
    const int32_t b = coefficient[1];
    const int32_t c = coefficient[2];
    int32_t i = 0;

    for (; i < (p->size & ~3); i += 4) {
        const int32_t first = lhs[i] * a + (rhs[i] * b + c);
        const int32_t second = lhs[i + 1] * a + (rhs[i + 1] * b + c);
        const int32_t third = lhs[i + 2] * a + (rhs[i + 2] * b + c);
        const int32_t fourth = lhs[i + 3] * a + (rhs[i + 3] * b + c);
        output[i] = mg_affine_sum_s8_stored(p, first);
        output[i + 1] = mg_affine_sum_s8_stored(p, second);
        output[i + 2] = mg_affine_sum_s8_stored(p, third);
        output[i + 3] = mg_affine_sum_s8_stored(p, fourth);
    }
    for (; i < p->size; i++) {
        output[i] = mg_affine_sum_s8_stored(p, lhs[i] * a + (rhs[i] * b + c));
    }
}

/* A row of x * a + c, where c has the other operand. */
MG_INLINE void mg_affine_sum_s8_line(const mg_affine_sum_s8_params *p, const int8_t *x, int32_t a,
                                     int32_t c, int8_t *output)
{
    for (int32_t i = 0; i < p->size; i++) {
        output[i] = mg_affine_sum_s8_stored(p, x[i] * a + c);
    }
}

/* Computes all rows: by `row`(p, lhs, rhs, coefficient, output) if neither operand of a row is
 * broadcast, otherwise by `line`(p, x, a, c, output). This is a macro so that both are inlined at
 * every optimisation level. */
#define MG_AFFINE_SUM_S8(row, line, p, lhs, rhs, coefficient, output)                              \
    do {                                                                                           \
        const int32_t *with_ = (coefficient);                                                      \
        for (int32_t i_ = 0; i_ < (p)->rows; i_++) {                                               \
            const int8_t *left_ = &(lhs)[i_ * (p)->lhs_row];                                       \
            const int8_t *right_ = &(rhs)[i_ * (p)->rhs_row];                                      \
            int8_t *to_ = &(output)[i_ * (p)->size];                                               \
            if ((p)->lhs_step == 0) {                                                              \
                line((p), right_, with_[1], left_[0] * with_[0] + with_[2], to_);                  \
            } else if ((p)->rhs_step == 0) {                                                       \
                line((p), left_, with_[0], right_[0] * with_[1] + with_[2], to_);                  \
            } else {                                                                               \
                row((p), left_, right_, with_, to_);                                               \
            }                                                                                      \
        }                                                                                          \
    } while (0)

MG_INLINE void mg_affine_sum_s8_body(MG_ARGUMENTS_PAIR_ROWS(mg_affine_sum_s8))
{
    MG_AFFINE_SUM_S8(mg_affine_sum_s8_row, mg_affine_sum_s8_line, p, lhs, rhs, coefficient, output);
}

#ifdef MG_AFFINE_SUM_S8_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_affine_sum_s8, (p, lhs, rhs, coefficient, output),
               MG_ARGUMENTS_PAIR_ROWS(mg_affine_sum_s8))
#endif

#endif
