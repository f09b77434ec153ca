/* SPDX-License-Identifier: Apache-2.0 */
/* The int8 kernels of microgen/elementwise/scaled_sum.h for rows, with few instructions for each
 * element.
 *
 * The operand of the larger scale is halved, which is exact. Only the other one is rounded. A
 * rounding shift adds a half, and for negative values one less. A product is negative only if its
 * factor is, and if the factor is negative and the product is 0, both give 0. So the sign may be
 * the factor's, and half and zero point are one constant, which smmlar adds. */
#ifndef MICROGEN_SCALED_SUM_ROWS_S8_H
#define MICROGEN_SCALED_SUM_ROWS_S8_H

#include "microgen/arithmetic/saturate.h"
#include "microgen/blocks/dsp.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/requantize.h"

/* The last parameters of sums of rows. */
#define MG_SCALED_SUM_SCALES                                                                       \
    int32_t multiplier;        /* Q31, of the scaled operand, whose values were shifted left */    \
    int32_t shift;             /* -22 to -1 */                                                     \
    int32_t output_multiplier; /* Q31, of the sum */                                               \
    int32_t output_shift;      /* -22 to -1 */                                                     \
    int32_t activation_min;    /* within the type */                                               \
    int32_t activation_max;    /* the same; activation_min or more */

typedef struct {
    MG_PAIR_ROWS
    int32_t scales_rhs;    /* 1: rhs is scaled and lhs halved; 0: lhs is scaled and rhs halved */
    int32_t scaled_offset; /* minus the zero point of the scaled operand: -127 to 128 */
    int32_t halved_offset; /* the same of the other operand */
    int32_t output_offset; /* the output's zero point: -128 to 127 */
    MG_SCALED_SUM_SCALES
} mg_scaled_sum_rows_params;

#define MG_SUM_SHIFTED 20   /* bits by which operands are shifted left before they are scaled */
#define MG_SQUARE_SHIFTED 7 /* the same if the difference is squared */

/* What becomes of a scaled and a halved operand. */
enum {
    MG_SUM_OF_BOTH,
    MG_SUM_LESS_SCALED,
    MG_SUM_LESS_HALVED,
    MG_SUM_SQUARED
};

/* Declare a kernel of these parameters, and define its body: a call of `any` with a kind. */
#define MG_DECLARE_SCALED_SUM(symbol)                                                              \
    typedef mg_scaled_sum_rows_params symbol##_params;                                             \
    MG_DECLARE_BINARY(symbol, int8_t, int8_t)
#define MG_SCALED_SUM_BODY(symbol, any, kind)                                                      \
    MG_INLINE void symbol##_body(const symbol##_params *p, const int8_t *lhs, const int8_t *rhs,   \
                                 int8_t *output)                                                   \
    {                                                                                              \
        any(p, lhs, rhs, output, kind);                                                            \
    }

/* Compute output [rows][size] as mg_add_s8, mg_subtract_s8 and mg_squared_difference_s8 do.
 *
 * Output may be the same buffer as an operand that is not broadcast; otherwise it must not overlap
 * an operand. */
MG_DECLARE_SCALED_SUM(mg_add_rows_s8);
MG_DECLARE_SCALED_SUM(mg_subtract_rows_s8);
MG_DECLARE_SCALED_SUM(mg_squared_difference_rows_s8);

/* zero + x * 2^bits. In assembly, because compilers add a zero point before they shift. */
#if defined(__ARM_FEATURE_DSP)
#define MG_SCALED_SUM_SHIFT(bits)                                                                  \
    MG_INLINE int32_t mg_scaled_sum_shifted_##bits(int32_t zero, int32_t x)                        \
    {                                                                                              \
        int32_t result;                                                                            \
        __asm__("add %0, %1, %2, lsl #" #bits : "=r"(result) : "r"(zero), "r"(x));                 \
        return result;                                                                             \
    }
#else
#define MG_SCALED_SUM_SHIFT(bits)                                                                  \
    MG_INLINE int32_t mg_scaled_sum_shifted_##bits(int32_t zero, int32_t x)                        \
    {                                                                                              \
        return zero + x * ((int32_t)1 << bits);                                                    \
    }
#endif
MG_SCALED_SUM_SHIFT(7)
MG_SCALED_SUM_SHIFT(8)
MG_SCALED_SUM_SHIFT(20)
MG_SCALED_SUM_SHIFT(21)

/* An operand that is to be scaled, doubled, and twice a halved one. */
MG_INLINE int32_t mg_scaled_sum_factor(int32_t zero, int32_t x, int32_t kind)
{
    return (kind == MG_SUM_SQUARED) ? mg_scaled_sum_shifted_8(zero, x)
                                    : mg_scaled_sum_shifted_21(zero, x);
}

MG_INLINE int32_t mg_scaled_sum_twice_halved(int32_t zero, int32_t x, int32_t kind)
{
    return (kind == MG_SUM_SQUARED) ? mg_scaled_sum_shifted_7(zero, x)
                                    : mg_scaled_sum_shifted_20(zero, x);
}

/* Twice the result of a scaled operand and twice a halved one: a sum, a difference or a square. */
MG_INLINE int32_t mg_scaled_sum_twice(int32_t scaled, int32_t twice_halved, int32_t kind)
{
    if (kind == MG_SUM_OF_BOTH) {
        return twice_halved + 2 * scaled;
    }
    if (kind == MG_SUM_LESS_SCALED) {
        return twice_halved - 2 * scaled;
    }
    const int32_t twice = 2 * scaled - twice_halved;
    return (kind == MG_SUM_SQUARED) ? twice * mg_shift_right(twice, 1) : twice;
}

/* Computes a row of pairs. Steps are 0 or 1, and `kind` is a constant.
 * All parameters are copied first, because stores of int8 might change them. */
MG_INLINE void mg_scaled_sum_rows_row(const mg_scaled_sum_rows_params *p, const int8_t *scaled,
                                      int32_t scaled_step, const int8_t *halved,
                                      int32_t halved_step, int8_t *output, int32_t kind)
{
    const int32_t unit = (kind == MG_SUM_SQUARED) ? 1 << MG_SQUARE_SHIFTED : 1 << MG_SUM_SHIFTED;
    const int32_t right = -p->shift;
    const int32_t scaled_zero = p->scaled_offset * 2 * unit;
    const int32_t halved_zero = p->halved_offset * unit;
    const int32_t multiplier = p->multiplier;
    const int32_t half = (int32_t)1 << (right - 1);
    const int32_t output_right = -p->output_shift;
    const int32_t output_multiplier = p->output_multiplier;
    const int32_t constant =
        p->output_offset * ((int32_t)1 << output_right) + ((int32_t)1 << (output_right - 1));
    const int8_t *const end = output + p->size;

    while (output < end) {
        const int32_t factor = mg_scaled_sum_factor(scaled_zero, *scaled, kind);
        const int32_t halves = mg_scaled_sum_twice_halved(halved_zero, *halved, kind);
        const int32_t product = mg_smmlar(half, factor, multiplier) + mg_shift_right(factor, 31);
        const int32_t first = mg_shift_right(product, right);
        const int32_t twice = mg_scaled_sum_twice(first, halves, kind);
        const int32_t sum =
            mg_smmlar(constant, twice, output_multiplier) + mg_shift_right(twice, 31);
        *output++ = mg_clamp_s8(mg_shift_right(sum, output_right), INT8_MIN, INT8_MAX);
        scaled += scaled_step;
        halved += halved_step;
    }
}

/* Clamps what a row stored. */
MG_INLINE void mg_scaled_sum_rows_clamp(const mg_scaled_sum_rows_params *p, int8_t *output)
{
    const int32_t low = p->activation_min;
    const int32_t high = p->activation_max;

    for (int32_t i = 0; i < p->size && (low > INT8_MIN || high < INT8_MAX); i++) {
        output[i] = mg_clamp_s8(output[i], low, high);
    }
}

/* Declares both operands, with the elements from a row to the next and from a value to the next. */
#define MG_SCALED_SUM_OPERANDS(p, lhs, rhs)                                                        \
    const int8_t *const scaled = ((p)->scales_rhs != 0) ? (rhs) : (lhs);                           \
    const int8_t *const halved = ((p)->scales_rhs != 0) ? (lhs) : (rhs);                           \
    const int32_t scaled_row = ((p)->scales_rhs != 0) ? (p)->rhs_row : (p)->lhs_row;               \
    const int32_t halved_row = ((p)->scales_rhs != 0) ? (p)->lhs_row : (p)->rhs_row;               \
    const int32_t scaled_step = ((p)->scales_rhs != 0) ? (p)->rhs_step : (p)->lhs_step;            \
    const int32_t halved_step = ((p)->scales_rhs != 0) ? (p)->lhs_step : (p)->rhs_step

MG_INLINE void mg_scaled_sum_rows_any(const mg_scaled_sum_rows_params *p, const int8_t *lhs,
                                      const int8_t *rhs, int8_t *output, int32_t kind)
{
    MG_SCALED_SUM_OPERANDS(p, lhs, rhs);

    for (int32_t row = 0; row < p->rows; row++) {
        const int8_t *const x = &scaled[row * scaled_row];
        const int8_t *const y = &halved[row * halved_row];
        int8_t *const to = &output[row * p->size];
        if (scaled_step != 0 && halved_step != 0) {
            mg_scaled_sum_rows_row(p, x, 1, y, 1, to, kind);
        } else {
            mg_scaled_sum_rows_row(p, x, scaled_step, y, halved_step, to, kind);
        }
        mg_scaled_sum_rows_clamp(p, to);
    }
}

MG_SCALED_SUM_BODY(mg_add_rows_s8, mg_scaled_sum_rows_any, MG_SUM_OF_BOTH)

MG_INLINE void mg_subtract_rows_s8_body(const mg_subtract_rows_s8_params *p, const int8_t *lhs,
                                        const int8_t *rhs, int8_t *output)
{
    if (p->scales_rhs != 0) {
        mg_scaled_sum_rows_any(p, lhs, rhs, output, MG_SUM_LESS_SCALED);
    } else {
        mg_scaled_sum_rows_any(p, lhs, rhs, output, MG_SUM_LESS_HALVED);
    }
}

MG_SCALED_SUM_BODY(mg_squared_difference_rows_s8, mg_scaled_sum_rows_any, MG_SUM_SQUARED)

#ifdef MG_SCALED_SUM_ROWS_S8_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_BINARY(mg_add_rows_s8, int8_t, int8_t)
MG_DEFINE_BINARY(mg_subtract_rows_s8, int8_t, int8_t)
MG_DEFINE_BINARY(mg_squared_difference_rows_s8, int8_t, int8_t)
#endif

#endif
