/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax over the last axis of int8 tensors, with exponentials from a table. */
#ifndef MICROGEN_SOFTMAX_S8_TABLE_H
#define MICROGEN_SOFTMAX_S8_TABLE_H

#include "microgen/arithmetic/fixed_point.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    int32_t outer_size; /* rows */
    int32_t depth;      /* elements of a row: 1 to 4095 */
    int32_t entries;    /* of the table: 1 to 256 */
} mg_softmax_s8_table_params;

/* Computes what mg_softmax_s8 does, bit for bit. table[d] is exp(-beta * scale * d) as Q0.31, as
 * that kernel computes it; exponentials beyond the table are 0. table[0] is INT32_MAX.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EXTERN void mg_softmax_s8_table(const mg_softmax_s8_table_params *p, const int8_t *input,
                                   const int32_t *table, int8_t *output);

/* Leading zeros of x, which is not 0. */
MG_INLINE int32_t mg_leading_zeros(uint32_t x)
{
#if defined(__ARM_FEATURE_CLZ)
    return __builtin_clz(x);
#else
    int32_t zeros = 0;
    while ((x << zeros) < ((uint32_t)1 << 31)) {
        zeros++;
    }
    return zeros;
#endif
}

/* The exponential of a value that is d less than the largest of its row. */
MG_INLINE int32_t mg_softmax_s8_table_exp(const mg_softmax_s8_table_params *p, const int32_t *table,
                                          int32_t d)
{
    return (p->entries > (int32_t)UINT8_MAX || d < p->entries) ? table[d] : 0;
}

/* The sum of a row's exponentials as Q12.19. None is negative, so adding a half rounds as
 * mg_divide_by_power_of_two does. The sum is at least 1.0, because the largest value adds exp(0),
 * and at most 4095.0. */
MG_INLINE int32_t mg_softmax_s8_table_sum(const mg_softmax_s8_table_params *p, const int8_t *input,
                                          const int32_t *table, int32_t largest)
{
    uint32_t sum = 0;

    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t exponential = mg_softmax_s8_table_exp(p, table, largest - input[i]);
        sum += ((uint32_t)exponential + ((uint32_t)1 << 11)) >> 12;
    }
    return (int32_t)sum;
}

MG_INLINE void mg_softmax_s8_table_row(const mg_softmax_s8_table_params *p, const int8_t *input,
                                       const int32_t *table, int8_t *output)
{
    int32_t largest = INT8_MIN;

    for (int32_t i = 0; i < p->depth; i++) {
        if (input[i] > largest) {
            largest = input[i];
        }
    }
    const uint32_t sum = (uint32_t)mg_softmax_s8_table_sum(p, input, table, largest);
    const int32_t headroom = mg_leading_zeros(sum);
    const int32_t reciprocal =
        mg_one_over_one_plus((int32_t)((sum << headroom) - ((uint32_t)1 << 31)));
    const int32_t exponent = 12 - headroom + 31 - 8; /* 23 for a sum of 1.0, up to 34 */
    const uint32_t half = (uint32_t)1 << (exponent - 1 < 31 ? exponent - 1 : 31);

    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t exponential = mg_softmax_s8_table_exp(p, table, largest - input[i]);
        const uint32_t quotient = (uint32_t)mg_multiply_high(reciprocal, exponential);
        /* For sums of 512 and more the divisor is at least 2^32, so the quotient is 0. */
        const int32_t scaled = (exponent > 31) ? 0 : (int32_t)((quotient + half) >> exponent);
        output[i] = (int8_t)((scaled > (int32_t)UINT8_MAX) ? INT8_MAX : scaled + INT8_MIN);
    }
}

MG_INLINE void mg_softmax_s8_table_body(const mg_softmax_s8_table_params *p, const int8_t *input,
                                        const int32_t *table, int8_t *output)
{
    for (int32_t row = 0; row < p->outer_size; row++) {
        mg_softmax_s8_table_row(p, &input[row * p->depth], table, &output[row * p->depth]);
    }
}

#ifdef MG_SOFTMAX_S8_TABLE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_softmax_s8_table, (p, input, table, output), const mg_softmax_s8_table_params *p,
               const int8_t *input, const int32_t *table, int8_t *output)
#endif

#endif
