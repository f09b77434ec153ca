/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products in float32 for MVE with floats: a vector has the sums of four channels. Weights
 * are in the order [blocks of four channels][weights of a filter][4]. */
#ifndef MICROGEN_BLOCKS_F32_MVE_H
#define MICROGEN_BLOCKS_F32_MVE_H

#include <stddef.h>

#include "microgen/inline.h"

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)

#include <arm_mve.h>

#define MG_MVE_FLOATS 4 /* of a vector */

/* Four vectors of sums. */
typedef struct {
    float32x4_t p;
    float32x4_t q;
    float32x4_t r;
    float32x4_t s;
} mg_mve_sums_f32;

/* The bias of channels c to c + 3, as far as they exist (`active`); 0 without a bias. */
MG_INLINE float32x4_t mg_mve_bias_f32(const float *bias, int32_t c, mve_pred16_t active)
{
    return (bias != NULL) ? vldrwq_z_f32(&bias[c], active) : vdupq_n_f32(0.0F);
}

/* The nearest values to x in [low, high]; NaN remains NaN, because it is not less than anything.
 * VCMP's LT is "not GE", and so true for NaN. */
MG_INLINE float32x4_t mg_mve_clamp_f32(float32x4_t x, float low, float high)
{
    const float32x4_t least = vdupq_n_f32(low);
    const float32x4_t above = vpselq_f32(least, x, vcmpgtq_f32(least, x));
    return vpselq_f32(vdupq_n_f32(high), above, vcmpgtq_n_f32(above, high));
}

/* Adds the products of n values of one pixel with the weights of one block. */
MG_INLINE float32x4_t mg_mve_dot_f32(float32x4_t sums, const float *values, const float *weights,
                                     int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        sums = vfmaq_n_f32(sums, vldrwq_f32(weights), values[i]);
        weights += MG_MVE_FLOATS;
    }
    return sums;
}

/* The same for four pixels, which are `step` apart. */
MG_INLINE mg_mve_sums_f32 mg_mve_dot_pixels_f32(mg_mve_sums_f32 sums, const float *values,
                                                int32_t step, const float *weights, int32_t n)
{
    const float *p = values;
    const float *q = &p[step];
    const float *r = &q[step];
    const float *s = &r[step];

    for (int32_t i = 0; i < n; i++) {
        const float32x4_t w = vldrwq_f32(weights);
        weights += MG_MVE_FLOATS;
        sums.p = vfmaq_n_f32(sums.p, w, *p++);
        sums.q = vfmaq_n_f32(sums.q, w, *q++);
        sums.r = vfmaq_n_f32(sums.r, w, *r++);
        sums.s = vfmaq_n_f32(sums.s, w, *s++);
    }
    return sums;
}

/* Adds the products of n values with weights [n][16] of 16 channels. */
MG_INLINE mg_mve_sums_f32 mg_mve_dot_wide_f32(mg_mve_sums_f32 sums, const float *values,
                                              const float *weights, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const float x = values[i];
        sums.p = vfmaq_n_f32(sums.p, vldrwq_f32(weights), x);
        sums.q = vfmaq_n_f32(sums.q, vldrwq_f32(weights + MG_MVE_FLOATS), x);
        sums.r = vfmaq_n_f32(sums.r, vldrwq_f32(weights + 2 * MG_MVE_FLOATS), x);
        sums.s = vfmaq_n_f32(sums.s, vldrwq_f32(weights + 3 * MG_MVE_FLOATS), x);
        weights += 4 * MG_MVE_FLOATS;
    }
    return sums;
}

#endif

#endif
