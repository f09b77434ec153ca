/* SPDX-License-Identifier: Apache-2.0 */
/* Any function of one int8 or int16 value, by a table. */
#ifndef MICROGEN_LOOKUP_H
#define MICROGEN_LOOKUP_H

#include "microgen/requantization/requantize.h"

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

MG_INLINE void mg_lookup_s8_body(const mg_lookup_s8_params *p, const int8_t *input,
                                 const int8_t *table, int8_t *output)
{
    int32_t i = 0;

    for (; i < (p->size & ~3); i += 4) {
        const int8_t first = table[input[i] + 128];
        const int8_t second = table[input[i + 1] + 128];
        const int8_t third = table[input[i + 2] + 128];
        const int8_t fourth = table[input[i + 3] + 128];
        output[i] = first;
        output[i + 1] = second;
        output[i + 2] = third;
        output[i + 3] = fourth;
    }
    for (; i < p->size; i++) {
        output[i] = table[input[i] + 128];
    }
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
