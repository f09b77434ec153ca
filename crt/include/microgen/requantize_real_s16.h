/* SPDX-License-Identifier: Apache-2.0 */
/* mg_requantize_real, with a short way for nearly all sums. */
#ifndef MICROGEN_REQUANTIZE_REAL_S16_H
#define MICROGEN_REQUANTIZE_REAL_S16_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/requantize_s16.h"

/* Computes the same as mg_requantize_real.
 *
 * With m the upper 32 bits of the significand, |x| * m is at most |x| units of 2^21 below the exact
 * product, which its rounding to double changes by less than |x| such units: by 2^-53 of itself,
 * and it is below |x| * 2^32 of them. So if the result is the same for |x| * m and for 2 * |x| + 1
 * units more, no exact computation gives another one. Nothing exceeds 64 bits if |x| is below 2^31:
 * the product is below 2^63, half a unit of the result at most 2^61. */
MG_INLINE int32_t mg_requantize_real_soon(int64_t x, int64_t significand, int32_t shift)
{
    const int32_t right = shift - 21;

    if ((x > INT32_MIN) && (x <= INT32_MAX) && (right <= 62)) {
        const uint32_t magnitude = (uint32_t)((x < 0) ? -x : x);
        const uint64_t product = (uint64_t)magnitude * (uint32_t)((uint64_t)significand >> 21);
        const uint64_t least = product + ((uint64_t)1 << (right - 1));
        const uint64_t most = least + 2U * (uint64_t)magnitude + 1U;
        if (((least ^ most) >> right) == 0U) {
            const int32_t whole = (int32_t)(least >> right);
            return (x < 0) ? -whole : whole;
        }
    }
    return mg_requantize_real(x, significand, shift);
}

#endif
