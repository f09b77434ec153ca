/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of 4 bits, -8 to 7, two to a byte: the first is in the lower half. Each row of weights
 * begins with a byte of its own. */
#ifndef MICROGEN_INT4_H
#define MICROGEN_INT4_H

#include "microgen/requantization/requantize.h"

/* The weights of a byte. If the core has an instruction that extends the sign of a bit field,
 * compilers use it for the two shifts. */
MG_INLINE int32_t mg_low_s4(uint8_t byte)
{
    return mg_shift_right(mg_shift_left(byte, 28), 28);
}

MG_INLINE int32_t mg_high_s4(uint8_t byte)
{
    return mg_shift_right(mg_shift_left(byte, 24), 28);
}

/* The bytes of a row of n weights. */
MG_INLINE int32_t mg_row_bytes_s4(int32_t n)
{
    return n / 2 + n % 2;
}

/* Unpacks a row of n weights. */
MG_INLINE void mg_unpack_s4(const uint8_t *row, int32_t n, int8_t *weights)
{
    const int32_t whole = n - n % 2;

    for (int32_t i = 0; i < whole; i += 2) {
        const uint8_t byte = *row++;
        weights[i] = (int8_t)mg_low_s4(byte);
        weights[i + 1] = (int8_t)mg_high_s4(byte);
    }
    if (whole < n) {
        weights[whole] = (int8_t)mg_low_s4(*row);
    }
}

#endif
