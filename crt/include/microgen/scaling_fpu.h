/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling in float32 by an FPU, which gives what microgen/requantize_float.h computes in integers.
 */
#ifndef MICROGEN_SCALING_FPU_H
#define MICROGEN_SCALING_FPU_H

#include <stdint.h>
#include <string.h>

#include "microgen/inline.h"

/* x rounded to the nearest integer, ties to even. Results beyond 2^22 in magnitude may saturate.
 * FPUs round as their mode says, and programs do not change the default one. */
MG_INLINE int32_t mg_nearest_by_fpu(float x)
{
#if defined(__ARM_FP) && ((__ARM_FP & 4) != 0)
    int32_t result;
    __asm__("vcvtr.s32.f32 %0, %1" : "=t"(result) : "t"(x));
    return result;
#elif defined(__riscv_flen)
    int32_t result;
    __asm__("fcvt.w.s %0, %1, rne" : "=r"(result) : "f"(x));
    return result;
#else
    const float limit = 4194304.0F; /* 2^22 */
    if (!(x > -limit) || !(x < limit)) {
        return (x < 0.0F) ? -4194304 : 4194304;
    }
    return (int32_t)((x + 12582912.0F) - 12582912.0F); /* 1.5 * 2^23 */
#endif
}

/* x times a scale, which is given by the bits of a float. */
MG_INLINE int32_t mg_scaled_by_fpu(int32_t x, int32_t bits)
{
    float scale;
    memcpy(&scale, &bits, sizeof(scale));
    return mg_nearest_by_fpu((float)x * scale);
}

#endif
