/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of int16 values by tables of 513 entries. The Python twin is
 * microgen/graph/ops/tables/tables.py, which computes the same values, bit for bit. */
#ifndef MICROGEN_INTERPOLATE_S16_H
#define MICROGEN_INTERPOLATE_S16_H

#include "microgen/requantization/requantize.h"

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

#endif
