/* SPDX-License-Identifier: Apache-2.0 */
/* The clamp of int16 kernels' results. */
#ifndef MICROGEN_CLAMP_S16_H
#define MICROGEN_CLAMP_S16_H

#include "microgen/inline.h"

/* x clamped to [low, high], both within int16. */
MG_INLINE int16_t mg_clamp_s16(int32_t x, int32_t low, int32_t high)
{
    const int32_t raised = (x < low) ? low : x;
    return (int16_t)((raised > high) ? high : raised);
}

#endif
