/* SPDX-License-Identifier: Apache-2.0 */
/* The lengths of unsigned integers. */
#ifndef MICROGEN_BIT_LENGTH_H
#define MICROGEN_BIT_LENGTH_H

#include "microgen/inline.h"

/* The number of bits of x without leading zeros. */
MG_INLINE int32_t mg_bit_length_u64(uint64_t x)
{
    int32_t length = 0;

    for (int32_t step = 32; step > 0; step /= 2) {
        if ((x >> step) != 0U) {
            x >>= step;
            length += step;
        }
    }
    return length + ((x != 0U) ? 1 : 0);
}

#endif
