/* SPDX-License-Identifier: Apache-2.0 */
/* Words of four int8 values: the larger or the smaller of each pair. */
#ifndef MICROGEN_SPLAT_S8_H
#define MICROGEN_SPLAT_S8_H

#include "microgen/inline.h"

/* A word with four times the same byte. */
MG_INLINE uint32_t mg_splat_s8(int32_t value)
{
    return ((uint32_t)value & 0xFFU) * 0x01010101U;
}

#ifdef __ARM_FEATURE_DSP

/* ssub8 sets a flag for each byte of a that is not less than b's, and sel chooses by these flags.
 * Both are in one statement, because the compiler does not know of the flags. */
MG_INLINE uint32_t mg_max_4_s8(uint32_t a, uint32_t b)
{
    uint32_t result;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b));
    return result;
}

MG_INLINE uint32_t mg_min_4_s8(uint32_t a, uint32_t b)
{
    uint32_t result;
    __asm__("ssub8 %0, %1, %2\n\tsel %0, %2, %1" : "=&r"(result) : "r"(a), "r"(b));
    return result;
}

#else

/* All bits of each byte of a that is not less than b's. */
MG_INLINE uint32_t mg_not_less_4_s8(uint32_t a, uint32_t b)
{
    uint32_t mask = 0;

    for (uint32_t shift = 0; shift < 32U; shift += 8U) {
        const uint32_t left = ((a >> shift) & 0xFFU) ^ 0x80U;
        const uint32_t right = ((b >> shift) & 0xFFU) ^ 0x80U;
        mask |= (left >= right) ? (0xFFU << shift) : 0U;
    }
    return mask;
}

MG_INLINE uint32_t mg_max_4_s8(uint32_t a, uint32_t b)
{
    const uint32_t mask = mg_not_less_4_s8(a, b);
    return (a & mask) | (b & ~mask);
}

MG_INLINE uint32_t mg_min_4_s8(uint32_t a, uint32_t b)
{
    const uint32_t mask = mg_not_less_4_s8(a, b);
    return (b & mask) | (a & ~mask);
}

#endif

#endif
