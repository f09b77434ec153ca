/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling in float32 by an FPU, which gives what microgen/requantization/requantize_float.h
 * computes in integers.
 */
#ifndef MICROGEN_SCALING_FPU_H
#define MICROGEN_SCALING_FPU_H

#include <string.h>

#include "microgen/requantization/requantize_float.h"

#if (defined(__arm__) && !(defined(__ARM_FP) && ((__ARM_FP & 4) != 0))) ||                         \
    (defined(__riscv) && !defined(__riscv_flen))
#define MG_NO_FPU
#endif

#ifndef MG_NO_FPU

/* x rounded to the nearest integer, ties to even. Results beyond 2^22 in magnitude may saturate.
 * FPUs round as their mode says, and programs do not change the default one. */
MG_INLINE int32_t mg_nearest_by_fpu(float x)
{
#if defined(__arm__)
    int32_t result;
    __asm__("vcvtr.s32.f32 %0, %1" : "=t"(result) : "t"(x));
    return result;
#elif defined(__riscv)
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

#endif

/* x times a scale, which is given by the bits of a float. Kernels that call this need an FPU. For
 * other cores it is in integers, so that their code never needs floats in software. */
MG_INLINE int32_t mg_scaled_by_fpu(int32_t x, int32_t bits)
{
#ifdef MG_NO_FPU
    const uint32_t hidden = (uint32_t)1 << 23;
    const int32_t exponent = bits >> 23;
    const uint32_t significand = ((uint32_t)bits & (hidden - 1U)) | ((exponent > 0) ? hidden : 0U);
    return mg_requantize_float(x, (int32_t)(significand << 7), exponent - 126);
#else
    float scale;
    memcpy(&scale, &bits, sizeof(scale));
    return mg_nearest_by_fpu((float)x * scale);
#endif
}

#endif
