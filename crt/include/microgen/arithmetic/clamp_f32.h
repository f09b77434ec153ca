/* SPDX-License-Identifier: Apache-2.0 */
/* The fused activations of float32 kernels. */
#ifndef MICROGEN_CLAMP_F32_H
#define MICROGEN_CLAMP_F32_H

#include "microgen/inline.h"

/* The nearest value to x in [low, high]; NaN remains NaN. */
MG_INLINE float mg_clamp_f32(float x, float low, float high)
{
    if (x < low) {
        return low;
    }
    return (x > high) ? high : x;
}

#endif
