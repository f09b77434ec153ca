/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of int8 values at equal distances, with packed 16-bit arithmetic or the M-profile vector
 * extension. */
#ifndef MICROGEN_SUMS_S8_H
#define MICROGEN_SUMS_S8_H

#include "microgen/blocks/dsp.h"
#include "microgen/blocks/mve.h"

#define MG_SUMS_S8_MOST 255 /* values of int8 whose sum fits int16 */

#if defined(__ARM_FEATURE_MVE)
#define MG_SUMS_S8_LANES 8

/* Adds the values of up to eight columns of `from`, those that are active, from `count` rows at a
 * distance of `stride`. Sums are of the even and of the odd columns. */
MG_INLINE void mg_sums_s8_columns(const int8_t *from, int32_t stride, int32_t count,
                                  mve_pred16_t active, int32x4_t sums[2])
{
    sums[0] = vdupq_n_s32(0);
    sums[1] = vdupq_n_s32(0);
    while (count > 0) {
        const int32_t rows = (count < MG_SUMS_S8_MOST) ? count : MG_SUMS_S8_MOST;
        int16x8_t part = vdupq_n_s16(0);
        for (int32_t n = rows; n > 0; n--) {
            part = vaddq_s16(part, vldrbq_z_s16(from, active));
            from += stride;
        }
        sums[0] = vaddq_s32(sums[0], vmovlbq_s16(part));
        sums[1] = vaddq_s32(sums[1], vmovltq_s16(part));
        count -= rows;
    }
}

/* The sum of `count` neighbours. */
MG_INLINE int32_t mg_sums_s8_row(const int8_t *from, int32_t count)
{
    int32_t sum = 0;

    for (; count >= MG_MVE_BYTES; count -= MG_MVE_BYTES) {
        sum = vaddvaq_s8(sum, vldrbq_s8(from));
        from += MG_MVE_BYTES;
    }
    return (count > 0) ? vaddvaq_s8(sum, vldrbq_z_s8(from, vctp8q((uint32_t)count))) : sum;
}

#elif defined(__ARM_FEATURE_DSP)
#define MG_SUMS_S8_LANES 4

/* Adds the values of four columns of `from`, at any address, from `count` rows at a distance of
 * `stride`. */
MG_INLINE void mg_sums_s8_columns(const int8_t *from, int32_t stride, int32_t count,
                                  int32_t sums[4])
{
    for (int32_t c = 0; c < 4; c++) {
        sums[c] = 0;
    }
    while (count > 0) {
        const int32_t rows = (count < MG_SUMS_S8_MOST) ? count : MG_SUMS_S8_MOST;
        uint32_t even = 0;
        uint32_t odd = 0;
        for (int32_t n = rows; n > 0; n--) {
            const uint32_t word = mg_load_4_s8(from);
            even = mg_sxtab16(even, word);
            odd = mg_sxtab16_odd(odd, word);
            from += stride;
        }
        sums[0] += mg_low_s16(even);
        sums[1] += mg_low_s16(odd);
        sums[2] += mg_high_s16(even);
        sums[3] += mg_high_s16(odd);
        count -= rows;
    }
}

/* The sum of `count` values at a distance of `stride`. */
MG_INLINE int32_t mg_sums_s8_column(const int8_t *from, int32_t stride, int32_t count)
{
    int32_t sum = 0;

    for (; count > 0; count--) {
        sum += *from;
        from += stride;
    }
    return sum;
}

/* The sum of `count` neighbours. */
MG_INLINE int32_t mg_sums_s8_row(const int8_t *from, int32_t count)
{
    int32_t sums[4];

    mg_sums_s8_columns(from, 4, count >> 2, sums);
    return sums[0] + sums[1] + sums[2] + sums[3] +
           mg_sums_s8_column(from + (count & ~3), 1, count & 3);
}
#endif

#endif
