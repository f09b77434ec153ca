/* SPDX-License-Identifier: Apache-2.0 */
/* mg_multiply_s8 for rows, four elements at a time, with few instructions for each.
 *
 * The rounded upper word of a doubled product times the multiplier is mg_multiply_high of the
 * product. Its rounding shift adds a half, and for negative values one
 * less. A value is negative only if the product is. If the product is negative and the value is 0,
 * both give 0. So the sign may be the product's, and half and zero point are one constant. */
#ifndef MICROGEN_MULTIPLY_S8_ROWS_H
#define MICROGEN_MULTIPLY_S8_ROWS_H

#include "microgen/arithmetic/saturate.h"
#include "microgen/blocks/dsp.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    MG_PAIR_ROWS
    int32_t lhs_offset;     /* minus the zero point: -127 to 128 */
    int32_t rhs_offset;     /* the same */
    int32_t output_offset;  /* the output's zero point: -128 to 127 */
    int32_t multiplier;     /* Q31, as microgen/requantization/requantize.h says */
    int32_t shift;          /* the same; -22 to -1 */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* the same; activation_min or more */
} mg_multiply_s8_rows_params;

/* Multiplies lhs and rhs into output [rows][size] as mg_multiply_s8 does. A product is less than
 * 2^17, so is its scaled value, and the zero point times 2^22 is at most 2^29.
 *
 * Output may be the same buffer as an operand that is not broadcast; otherwise it must not overlap
 * an operand. */
MG_DECLARE_BINARY(mg_multiply_s8_rows, int8_t, int8_t);

/* The stored product of a value without its zero point and twice another. */
MG_INLINE int8_t mg_multiply_s8_rows_stored(const mg_multiply_s8_rows_params *p, int32_t lhs,
                                            int32_t twice_rhs)
{
    const int32_t right = -p->shift;
    const int32_t constant = p->output_offset * ((int32_t)1 << right) + ((int32_t)1 << (right - 1));
    const int32_t twice = lhs * twice_rhs;
    const int32_t scaled = mg_smmulr(twice, p->multiplier) + mg_shift_right(twice, 31);
    return mg_clamp_s8(mg_shift_right(scaled + constant, right), p->activation_min,
                       p->activation_max);
}

/* Twice a value of rhs without its zero point. */
MG_INLINE int32_t mg_multiply_s8_rows_twice(const mg_multiply_s8_rows_params *p, int8_t rhs)
{
    return 2 * rhs + 2 * p->rhs_offset;
}

/* The stored product of element i of both rows. */
MG_INLINE int8_t mg_multiply_s8_rows_element(const mg_multiply_s8_rows_params *p, const int8_t *lhs,
                                             const int8_t *rhs, int32_t i)
{
    return mg_multiply_s8_rows_stored(p, lhs[i * p->lhs_step] + p->lhs_offset,
                                      mg_multiply_s8_rows_twice(p, rhs[i * p->rhs_step]));
}

MG_INLINE void mg_multiply_s8_rows_row(const mg_multiply_s8_rows_params *p, const int8_t *lhs,
                                       const int8_t *rhs, int8_t *output)
{
    int32_t i = 0;

    for (; i < (p->size & ~3); i += 4) {
        const int8_t first = mg_multiply_s8_rows_element(p, lhs, rhs, i);
        const int8_t second = mg_multiply_s8_rows_element(p, lhs, rhs, i + 1);
        const int8_t third = mg_multiply_s8_rows_element(p, lhs, rhs, i + 2);
        const int8_t fourth = mg_multiply_s8_rows_element(p, lhs, rhs, i + 3);
        output[i] = first;
        output[i + 1] = second;
        output[i + 2] = third;
        output[i + 3] = fourth;
    }
    for (; i < p->size; i++) {
        output[i] = mg_multiply_s8_rows_element(p, lhs, rhs, i);
    }
}

MG_INLINE void mg_multiply_s8_rows_body(const mg_multiply_s8_rows_params *p, const int8_t *lhs,
                                        const int8_t *rhs, int8_t *output)
{
    for (int32_t row = 0; row < p->rows; row++) {
        mg_multiply_s8_rows_row(p, &lhs[row * p->lhs_row], &rhs[row * p->rhs_row],
                                &output[row * p->size]);
    }
}

#ifdef MG_MULTIPLY_S8_ROWS_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_BINARY(mg_multiply_s8_rows, int8_t, int8_t)
#endif

#endif
