/* SPDX-License-Identifier: Apache-2.0 */
/* Saturation to int8, in one instruction if the core has it. */
#ifndef MICROGEN_SATURATE_H
#define MICROGEN_SATURATE_H

#include "microgen/requantization/requantize.h"

/* clang 14 defines the first macro for the baseline of Armv8-M, too, which has no ssat. */
#if defined(__ARM_FEATURE_SAT) && __ARM_ARCH_ISA_THUMB >= 2
#define MG_HAS_SSAT 1
#else
#define MG_HAS_SSAT 0
#endif

/* x clamped to [low, high], which are within int8. */
MG_INLINE int8_t mg_clamp_s8(int32_t x, int32_t low, int32_t high)
{
#if MG_HAS_SSAT
    /* This is __ssat of arm_acle.h, whose macro GCC warns about. In a loop compilers do not form
     * ssat from comparisons. */
    int32_t stored = (int32_t)__builtin_arm_ssat(x, 8);
    if (low > INT8_MIN && stored < low) {
        stored = low;
    }
    if (high < INT8_MAX && stored > high) {
        stored = high;
    }
    return (int8_t)stored;
#else
    return mg_offset_and_clamp(x, 0, low, high);
#endif
}

#endif
