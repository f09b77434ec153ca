/* SPDX-License-Identifier: Apache-2.0 */
/* Values limited to a range. */
#ifndef MICROGEN_CLAMP_H
#define MICROGEN_CLAMP_H

#include "microgen/inline.h"

/* The nearest value to x in [low, high]; NaN remains NaN. */
MG_INLINE float mg_clamp_f32(float x, float low, float high)
{
    if (x < low) {
        return low;
    }
    return (x > high) ? high : x;
}

/* x clamped to [low, high], both within int16. */
MG_INLINE int16_t mg_clamp_s16(int32_t x, int32_t low, int32_t high)
{
    const int32_t raised = (x < low) ? low : x;
    return (int16_t)((raised > high) ? high : raised);
}

#endif
