/* SPDX-License-Identifier: Apache-2.0 */
/* Any function of one int8 or int16 value, by a table. */
#ifndef MICROGEN_LOOKUP_H
#define MICROGEN_LOOKUP_H

#include "microgen/requantization/requantize.h"

#if defined(__ARM_FEATURE_MVE)
#include <arm_mve.h>
#endif

/* Functions of int16 values by tables of 513 entries. The Python twin is
 * microgen/graph/ops/tables/tables.py, which computes the same values, bit for bit. */

/* The value at x of a function whose table has an entry for every 128th int16 value, with linear
 * interpolation between entries, rounded to nearest, ties upwards. Differences of entries, and the
 * result, are taken modulo 2^16 as int16. */
MG_INLINE int16_t mg_interpolate_s16(const int16_t *table, int16_t x)
{
    const int32_t index = mg_shift_right(x, 7) + 256;
    const int32_t rest = x & 127;
    const int32_t slope = (int16_t)(table[index + 1] - table[index]);
    return (int16_t)(table[index] + mg_shift_right(slope * rest + 64, 7));
}

typedef struct {
    int32_t size; /* elements */
} mg_lookup_s8_params;

/* Stores table[x + 128] for each value x of input [size] into output [size]. table has 256 entries.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EXTERN void mg_lookup_s8(const mg_lookup_s8_params *p, const int8_t *input, const int8_t *table,
                            int8_t *output);

#if defined(__ARM_FEATURE_MVE)
/* Sixteen values at a time. */
MG_INLINE void mg_lookup_s8_gather(const int8_t *input, const uint8_t *table, int8_t *output,
                                   int32_t size)
{
    const uint8x16_t half = vdupq_n_u8(128);
    int32_t left = size;

    for (; left >= 16; left -= 16) {
        const uint8x16_t index = veorq_u8(vldrbq_u8((const uint8_t *)input), half);
        vstrbq_u8((uint8_t *)output, vldrbq_gather_offset_u8(table, index));
        input += 16;
        output += 16;
    }
    if (left > 0) {
        const mve_pred16_t active = vctp8q((uint32_t)left);
        const uint8x16_t index = veorq_u8(vldrbq_z_u8((const uint8_t *)input, active), half);
        vstrbq_p_u8((uint8_t *)output, vldrbq_gather_offset_z_u8(table, index, active), active);
    }
}
#endif

/* Keeps the compiler from joining bytes to a word, which takes longer than to store them. */
MG_INLINE void mg_lookup_s8_keep_order(void)
{
#if defined(__GNUC__)
    __asm__ volatile("" ::: "memory");
#endif
}

MG_INLINE void mg_lookup_s8_body(const mg_lookup_s8_params *p, const int8_t *input,
                                 const int8_t *table, int8_t *output)
{
#if defined(__ARM_FEATURE_MVE)
    mg_lookup_s8_gather(input, (const uint8_t *)table, output, p->size);
#else
    const int8_t *const middle = table + 128; /* the entry of 0, so that a value is an index */
    const int8_t *const fours = input + (p->size & ~3);
    const int8_t *const end = input + p->size;

    while (input != fours) {
        const int8_t first = middle[input[0]];
        const int8_t second = middle[input[1]];
        const int8_t third = middle[input[2]];
        const int8_t fourth = middle[input[3]];
        output[0] = first;
        mg_lookup_s8_keep_order();
        output[1] = second;
        mg_lookup_s8_keep_order();
        output[2] = third;
        mg_lookup_s8_keep_order();
        output[3] = fourth;
        input += 4;
        output += 4;
    }
    while (input != end) {
        *output++ = middle[*input++];
    }
#endif
}

typedef struct {
    int32_t size; /* elements */
} mg_lookup_s16_params;

/* Computes output [size] from input [size] by interpolation in table [513];
 * microgen/tables/lookup.h says how.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EXTERN void mg_lookup_s16(const mg_lookup_s16_params *p, const int16_t *input,
                             const int16_t *table, int16_t *output);

MG_INLINE void mg_lookup_s16_body(const mg_lookup_s16_params *p, const int16_t *input,
                                  const int16_t *table, int16_t *output)
{
    for (int32_t i = 0; i < p->size; i++) {
        output[i] = mg_interpolate_s16(table, input[i]);
    }
}

#ifdef MG_LOOKUP_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_lookup_s8, (p, input, table, output), const mg_lookup_s8_params *p,
               const int8_t *input, const int8_t *table, int8_t *output)
MG_OUT_OF_LINE(mg_lookup_s16, (p, input, table, output), const mg_lookup_s16_params *p,
               const int16_t *input, const int16_t *table, int16_t *output)
#endif

#endif
