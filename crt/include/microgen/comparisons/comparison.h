/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise comparison of two tensors with broadcasting: 0 or 1 for each pair of elements. */
#ifndef MICROGEN_COMPARISON_H
#define MICROGEN_COMPARISON_H

#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/requantize.h"

#ifdef MG_COMPARISON_IMPLEMENTATION /* with the out-of-line forms */
#define MG_COMPARISON_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_COMPARISON_EACH MG_ELEMENTWISE
#endif

typedef struct {
    MG_BROADCAST_SHAPES
    int32_t lhs_offset; /* minus the zero point: -127 to 128, int16: 0 */
    int32_t
        lhs_multiplier; /* the operand's scale, Q31 as microgen/requantization/requantize.h says */
    int32_t lhs_shift;  /* 0 or less, because the scale is less than 1 */
    int32_t rhs_offset; /* the same for the right operand */
    int32_t rhs_multiplier;
    int32_t rhs_shift;
} mg_scaled_comparison_params;

/* The operands' real values in units of 1/256, rounded twice. */
MG_INLINE int32_t mg_compared_left(const mg_scaled_comparison_params *p, int32_t lhs)
{
    return mg_requantize(mg_shift_left(lhs + p->lhs_offset, 8), p->lhs_multiplier, p->lhs_shift);
}

MG_INLINE int32_t mg_compared_right(const mg_scaled_comparison_params *p, int32_t rhs)
{
    return mg_requantize(mg_shift_left(rhs + p->rhs_offset, 8), p->rhs_multiplier, p->rhs_shift);
}

#define MG_SCALED_COMPARISON(symbol, type, compared)                                               \
    MG_COMPARISON_EACH(symbol, mg_scaled_comparison_params, type, uint8_t,                         \
                       mg_compared_left(p, lhs) compared mg_compared_right(p, rhs))

/* Compares stored values, so int16 operands should have the same scale. */
#define MG_COMPARISON(symbol, type, compared)                                                      \
    MG_COMPARISON_EACH(symbol, mg_broadcast_params, type, uint8_t, lhs compared rhs)

MG_SCALED_COMPARISON(mg_less_s8, int8_t, <)
MG_SCALED_COMPARISON(mg_less_equal_s8, int8_t, <=)
MG_SCALED_COMPARISON(mg_greater_s8, int8_t, >)
MG_SCALED_COMPARISON(mg_greater_equal_s8, int8_t, >=)
MG_SCALED_COMPARISON(mg_equal_s8, int8_t, ==)
MG_SCALED_COMPARISON(mg_not_equal_s8, int8_t, !=)
MG_SCALED_COMPARISON(mg_equal_s16, int16_t, ==)
MG_SCALED_COMPARISON(mg_not_equal_s16, int16_t, !=)

MG_COMPARISON(mg_less_s16, int16_t, <)
MG_COMPARISON(mg_less_equal_s16, int16_t, <=)
MG_COMPARISON(mg_greater_s16, int16_t, >)
MG_COMPARISON(mg_greater_equal_s16, int16_t, >=)

MG_COMPARISON(mg_less_s32, int32_t, <)
MG_COMPARISON(mg_less_equal_s32, int32_t, <=)
MG_COMPARISON(mg_greater_s32, int32_t, >)
MG_COMPARISON(mg_greater_equal_s32, int32_t, >=)
MG_COMPARISON(mg_equal_s32, int32_t, ==)
MG_COMPARISON(mg_not_equal_s32, int32_t, !=)

MG_COMPARISON(mg_less_s64, int64_t, <)
MG_COMPARISON(mg_less_equal_s64, int64_t, <=)
MG_COMPARISON(mg_greater_s64, int64_t, >)
MG_COMPARISON(mg_greater_equal_s64, int64_t, >=)
MG_COMPARISON(mg_equal_s64, int64_t, ==)
MG_COMPARISON(mg_not_equal_s64, int64_t, !=)

MG_COMPARISON(mg_less_f32, float, <)
MG_COMPARISON(mg_less_equal_f32, float, <=)
MG_COMPARISON(mg_greater_f32, float, >)
MG_COMPARISON(mg_greater_equal_f32, float, >=)
MG_COMPARISON(mg_equal_f32, float, ==)
MG_COMPARISON(mg_not_equal_f32, float, !=)

MG_COMPARISON(mg_equal_bool, uint8_t, ==)
MG_COMPARISON(mg_not_equal_bool, uint8_t, !=)

#endif
