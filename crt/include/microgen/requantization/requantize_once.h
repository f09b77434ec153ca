/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling of int32 values with one rounding, as Relay's qnn.requantize does it. The Python twin is
 * microgen/graph/arithmetic/int8.py, which computes the same values, bit for bit.
 *
 * Multipliers and shifts are those of microgen/requantization/requantize.h. */
#ifndef MICROGEN_REQUANTIZE_ONCE_H
#define MICROGEN_REQUANTIZE_ONCE_H

#include "microgen/requantization/requantize.h"

/* The direction in which ties are rounded. */
enum {
    MG_TIES_UPWARD = 0, /* TVM's UPWARD */
    MG_TIES_AWAY = 1    /* from zero: TVM's TONEAREST */
};

/* x times the scale modulo 2^32, rounded once, to nearest, ties upwards. */
MG_INLINE int32_t mg_requantize_upward(int32_t x, int32_t multiplier, int32_t shift)
{
    const int32_t right = 31 - shift;
    const int64_t half = (int64_t)1 << (right - 1);
    return (int32_t)mg_shift_right_64((int64_t)x * multiplier + half, right);
}

/* The same with ties as `ties` says. */
MG_INLINE int32_t mg_requantize_once(int32_t x, int32_t multiplier, int32_t shift, int32_t ties)
{
    return (ties == MG_TIES_AWAY) ? mg_requantize_single(x, multiplier, shift)
                                  : mg_requantize_upward(x, multiplier, shift);
}

#endif
