/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and differences of int16 as in microgen/elementwise/scaled_sum.h, for rows, with few
 * instructions for each element.
 *
 * The operand of the larger scale is halved, which is exact. Only the other one is rounded. Signs
 * are those of factors, for the reason in microgen/elementwise/scaled_sum_rows_s8.h. */
#ifndef MICROGEN_SCALED_SUM_ROWS_S16_H
#define MICROGEN_SCALED_SUM_ROWS_S16_H

#include "microgen/blocks/blocks_s16.h"
#include "microgen/blocks/dsp.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/elementwise/scaled_sum_rows_s8.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    MG_PAIR_ROWS            /* both steps are 1 */
        int32_t scales_rhs; /* 1: rhs is scaled and lhs halved; 0: lhs is scaled and rhs halved */
    MG_SCALED_SUM_SCALES    /* shifted left by 15 */
} mg_scaled_sum_rows_s16_params;

/* Declare a kernel of these parameters, and define its body: a call of `row` for each row. */
#define MG_DECLARE_SCALED_SUM_S16(symbol)                                                          \
    typedef mg_scaled_sum_rows_s16_params symbol##_params;                                         \
    MG_DECLARE_BINARY(symbol, int16_t, int16_t)
#define MG_SCALED_SUM_S16_BODY(symbol, row, kind)                                                  \
    MG_INLINE void symbol##_body(const symbol##_params *p, const int16_t *lhs, const int16_t *rhs, \
                                 int16_t *output)                                                  \
    {                                                                                              \
        const int16_t *const scaled = (p->scales_rhs != 0) ? rhs : lhs;                            \
        const int16_t *const halved = (p->scales_rhs != 0) ? lhs : rhs;                            \
        const int32_t scaled_row = (p->scales_rhs != 0) ? p->rhs_row : p->lhs_row;                 \
        const int32_t halved_row = (p->scales_rhs != 0) ? p->lhs_row : p->rhs_row;                 \
                                                                                                   \
        for (int32_t i = 0; i < p->rows; i++) {                                                    \
            row(p, &scaled[i * scaled_row], &halved[i * halved_row], &output[i * p->size], kind);  \
        }                                                                                          \
    }

/* Compute output [rows][size] as mg_add_s16 and mg_subtract_s16 do, with zero points of 0.
 *
 * Output may be the same buffer as an operand that is not broadcast; otherwise it must not overlap
 * an operand. */
MG_DECLARE_SCALED_SUM_S16(mg_add_rows_s16);
MG_DECLARE_SCALED_SUM_S16(mg_subtract_rows_s16);

/* What pairs of a row share. All parameters are copied first, because stores might change them. */
typedef struct {
    int32_t multiplier;
    int32_t right; /* bits */
    int32_t half;
    int32_t output_multiplier;
    int32_t output_right;
    int32_t output_half;
} mg_sum_terms_s16;

/* The stored value, without its clamp to a range, of a factor, which is a scaled operand times
 * 2^16, and a halved operand times 2^15. */
MG_INLINE int32_t mg_scaled_sum_s16_stored(const mg_sum_terms_s16 *s, int32_t factor,
                                           int32_t twice_halved, int32_t kind)
{
    const int32_t product = mg_smmlar(s->half, factor, s->multiplier) + mg_shift_right(factor, 31);
    const int32_t twice =
        mg_scaled_sum_twice(mg_shift_right(product, s->right), twice_halved, kind);
    const int32_t sum =
        mg_smmlar(s->output_half, twice, s->output_multiplier) + mg_shift_right(twice, 31);
    return mg_saturated_s16(mg_shift_right(sum, s->output_right));
}

/* The same of values in the upper halves of words. */
MG_INLINE int32_t mg_scaled_sum_s16_upper(const mg_sum_terms_s16 *s, uint32_t scaled,
                                          uint32_t halved, int32_t kind)
{
    return mg_scaled_sum_s16_stored(s, (int32_t)(scaled & 0xFFFF0000U),
                                    mg_shift_right((int32_t)(halved & 0xFFFF0000U), 1), kind);
}

/* Computes a row, two pairs at a time. */
MG_INLINE void mg_scaled_sum_s16_row(const mg_scaled_sum_rows_s16_params *p, const int16_t *scaled,
                                     const int16_t *halved, int16_t *output, int32_t kind)
{
    const mg_sum_terms_s16 s = {
        p->multiplier,        -p->shift,        (int32_t)1 << (-p->shift - 1),
        p->output_multiplier, -p->output_shift, (int32_t)1 << (-p->output_shift - 1)};
    const int32_t least = p->activation_min;
    const int32_t most = p->activation_max;
    const int32_t is_clamped = least > INT16_MIN || most < INT16_MAX;
    int16_t *to = output;

    for (int32_t left = p->size / 2; left > 0; left--) {
        const uint32_t x = mg_load_2_s16(scaled);
        const uint32_t y = mg_load_2_s16(halved);
        const int32_t low = mg_scaled_sum_s16_upper(&s, x << 16, y << 16, kind);
        const int32_t high = mg_scaled_sum_s16_upper(&s, x, y, kind);
        const uint32_t both = ((uint32_t)low & 0xFFFFU) | ((uint32_t)high << 16);
        memcpy(to, &both, sizeof(both));
        scaled += 2;
        halved += 2;
        to += 2;
    }
    if (p->size % 2 != 0) {
        *to = (int16_t)mg_scaled_sum_s16_stored(&s, *scaled * (1 << 16), *halved * (1 << 15), kind);
    }
    for (int32_t i = 0; i < p->size && is_clamped != 0; i++) {
        output[i] = mg_clamp_s16(output[i], least, most);
    }
}

MG_SCALED_SUM_S16_BODY(mg_add_rows_s16, mg_scaled_sum_s16_row, MG_SUM_OF_BOTH)
MG_SCALED_SUM_S16_BODY(mg_subtract_rows_s16, mg_scaled_sum_s16_row,
                       (p->scales_rhs != 0) ? MG_SUM_LESS_SCALED : MG_SUM_LESS_HALVED)

#ifdef MG_SCALED_SUM_ROWS_S16_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_BINARY(mg_add_rows_s16, int16_t, int16_t)
MG_DEFINE_BINARY(mg_subtract_rows_s16, int16_t, int16_t)
#endif

#endif
