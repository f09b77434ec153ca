/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products of int16 values with int8 weights, exact in int64, for one channel or four at a
 * time. Groups of at most MG_PRODUCTS_S16 products are first summed in int32, where they fit. */
#ifndef MICROGEN_SUMS_S16_H
#define MICROGEN_SUMS_S16_H

#include "microgen/requantization/requantize_s16.h"

enum {
    MG_PRODUCTS_S16 = 511
}; /* the sum of so many products of at most 2^22 is below 2^31 */

/* The accumulators of four output channels. */
typedef struct {
    int64_t a;
    int64_t b;
    int64_t c;
    int64_t d;
} mg_sums_s16;

MG_INLINE int32_t mg_at_most(int32_t x, int32_t limit)
{
    return (x < limit) ? x : limit;
}

/* The sum of the products of n values with n weights. It must fit int32, as it does if n is at most
 * MG_PRODUCTS_S16. */
MG_INLINE int32_t mg_few_s16(const int16_t *values, const int8_t *weight, int32_t n)
{
    int32_t sum = 0;

    for (int32_t i = 0; i < n; i++) {
        sum += values[i] * weight[i];
    }
    return sum;
}

/* sums + the same for four channels, whose weights are `step` apart. */
MG_INLINE mg_sums_s16 mg_few_4_s16(mg_sums_s16 sums, const int16_t *values, const int8_t *weight,
                                   int32_t step, int32_t n)
{
    int32_t a = 0;
    int32_t b = 0;
    int32_t c = 0;
    int32_t d = 0;

    for (int32_t i = 0; i < n; i++) {
        const int32_t value = values[i];
        a += value * weight[i];
        b += value * weight[i + step];
        c += value * weight[i + 2 * step];
        d += value * weight[i + 3 * step];
    }
    sums.a += a;
    sums.b += b;
    sums.c += c;
    sums.d += d;
    return sums;
}

/* sum + the products of n values with n weights. */
MG_INLINE int64_t mg_dot_s16(int64_t sum, const int16_t *values, const int8_t *weight, int32_t n)
{
    for (int32_t i = 0; i < n; i += MG_PRODUCTS_S16) {
        sum += mg_few_s16(&values[i], &weight[i], mg_at_most(n - i, MG_PRODUCTS_S16));
    }
    return sum;
}

/* The same for four channels, whose weights are `step` apart. */
MG_INLINE mg_sums_s16 mg_dot_4_s16(mg_sums_s16 sums, const int16_t *values, const int8_t *weight,
                                   int32_t step, int32_t n)
{
    for (int32_t i = 0; i < n; i += MG_PRODUCTS_S16) {
        sums = mg_few_4_s16(sums, &values[i], &weight[i], step, mg_at_most(n - i, MG_PRODUCTS_S16));
    }
    return sums;
}

/* Stores the outputs of channels c to c + 3. */
MG_INLINE void mg_store_4_s16(const mg_scaling_s16 *scaling, int32_t c, mg_sums_s16 sums,
                              int16_t *output)
{
    output[c] = mg_scaled_s16(scaling, c, sums.a);
    output[c + 1] = mg_scaled_s16(scaling, c + 1, sums.b);
    output[c + 2] = mg_scaled_s16(scaling, c + 2, sums.c);
    output[c + 3] = mg_scaled_s16(scaling, c + 3, sums.d);
}

#endif
