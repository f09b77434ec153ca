/* SPDX-License-Identifier: Apache-2.0 */
/* float32 numbers as stored integers, rounded to nearest, ties to even. */
#ifndef MICROGEN_IN_FLOAT_H
#define MICROGEN_IN_FLOAT_H

#include "microgen/arithmetic/float_math.h"

/* x rounded to the nearest integer, ties to even, as int32, saturated. NaN becomes the least one.
 */
MG_INLINE int32_t mg_integer_to_even(float x)
{
    if (!(x > -2147483648.0F)) {
        return INT32_MIN;
    }
    return (x >= 2147483648.0F) ? INT32_MAX : (int32_t)mg_f32_round_half_even(x);
}

/* The same plus offset, clamped. Neither low - offset nor high - offset may leave int32. */
MG_INLINE int32_t mg_stored_to_even(float x, int32_t offset, int32_t low, int32_t high)
{
    const int32_t whole = mg_integer_to_even(x);

    if (whole < low - offset) {
        return low;
    }
    return (whole > high - offset) ? high : whole + offset;
}

#endif
