/* SPDX-License-Identifier: Apache-2.0 */
/* The inverses of sine, cosine and tangent of float32. What float_math.h says about its functions
 * holds for these, too. */
#ifndef MICROGEN_FLOAT_INVERSE_ANGLES_H
#define MICROGEN_FLOAT_INVERSE_ANGLES_H

#include "microgen/arithmetic/float_math.h"

#define MG_PI_HIGH 3.14159274F /* pi as a sum of two floats */
#define MG_PI_LOW -8.74227766e-08F

/* asin(r) - r for |r| <= 1/2, with z = r^2. */
MG_INLINE float mg_asin_tail(float r, float z)
{
    const float p =
        0.166667521F +
        z * (0.0749529749F + z * (0.0454703756F + z * (0.0241795145F + z * 0.0421663076F)));
    return r * (z * p);
}

/* acos(a) for a in [1/2, 1]: twice the arcsine of the root of (1 - a) / 2. NaN for a > 1. */
MG_INLINE float mg_acos_of_large(float a)
{
    const float z = 0.5F * (1.0F - a);
    const float root = mg_f32_sqrt(z);
    return 2.0F * (root + mg_asin_tail(root, z));
}

/* asin(x) within 2.40 ULP. NaN for |x| > 1. */
MG_INLINE float mg_f32_asin(float x)
{
    const uint32_t sign = mg_bits_of_f32(x) & MG_F32_SIGN;
    const float a = mg_f32_abs(x);

    if (mg_bits_of_f32(a) < 0x3F000000U) { /* 1/2 */
        return x + mg_asin_tail(x, x * x);
    }
    const float result = 0.5F * MG_PI_HIGH - (mg_acos_of_large(a) - 0.5F * MG_PI_LOW);
    return mg_f32_of_bits(mg_bits_of_f32(result) | sign);
}

/* acos(x) within 1.15 ULP. NaN for |x| > 1. */
MG_INLINE float mg_f32_acos(float x)
{
    const float a = mg_f32_abs(x);

    if (mg_bits_of_f32(a) < 0x3F000000U) { /* 1/2 */
        return 0.5F * MG_PI_HIGH - (x - (0.5F * MG_PI_LOW - mg_asin_tail(x, x * x)));
    }
    if (mg_bits_of_f32(x) < MG_F32_SIGN) {
        return mg_acos_of_large(a);
    }
    return MG_PI_HIGH - (mg_acos_of_large(a) - MG_PI_LOW);
}

/* atan(t) + high + low for |t| <= tan(pi / 8), with high + low a multiple of pi / 4. */
MG_INLINE float mg_atan_from(float t, float high, float low)
{
    const float z = t * t;
    const float p =
        -0.333333164F +
        z * (0.199984699F + z * (-0.142435163F + z * (0.105936766F + z * -0.0607785732F)));
    return high + (t + (t * (z * p) + low));
}

/* atan(x) within 1.90 ULP. */
MG_INLINE float mg_f32_atan(float x)
{
    const uint32_t sign = mg_bits_of_f32(x) & MG_F32_SIGN;
    const float a = mg_f32_abs(x);
    float result;

    if (mg_bits_of_f32(a) < 0x3ED413CDU) { /* tan(pi / 8) */
        result = mg_atan_from(a, 0.0F, 0.0F);
    } else if (mg_bits_of_f32(a) < 0x401A827AU) { /* tan(3 pi / 8) */
        result = mg_atan_from((a - 1.0F) / (a + 1.0F), 0.25F * MG_PI_HIGH, 0.25F * MG_PI_LOW);
    } else {
        result = mg_atan_from(-1.0F / a, 0.5F * MG_PI_HIGH, 0.5F * MG_PI_LOW);
    }
    return mg_f32_of_bits(mg_bits_of_f32(result) | sign);
}

/* The angle of the point (x, y), which are not NaN, with the x axis within 3.5 ULP; as in C99,
 * F.9.1.4, signs of zeros and infinities count. */
MG_INLINE float mg_f32_angle(float y, float x)
{
    const float ax = mg_f32_abs(x);
    const float ay = mg_f32_abs(y);
    const float less = (ay < ax) ? ay : ax;
    const float more = (ay < ax) ? ax : ay;
    float angle = 0.0F;

    if (less == more) { /* zeros and infinities, too, whose quotient is NaN */
        angle = (more == 0.0F) ? 0.0F : 0.25F * MG_PI_HIGH;
    } else {
        angle = mg_f32_atan(less / more);
    }
    if (ay > ax) {
        angle = 0.5F * MG_PI_HIGH - (angle - 0.5F * MG_PI_LOW);
    }
    if (mg_bits_of_f32(x) >= MG_F32_SIGN) {
        angle = MG_PI_HIGH - (angle - MG_PI_LOW);
    }
    return mg_f32_of_bits(mg_bits_of_f32(angle) | (mg_bits_of_f32(y) & MG_F32_SIGN));
}

/* atan2(y, x) within 3.5 ULP; NaN if y or x is. */
MG_INLINE float mg_f32_atan2(float y, float x)
{
    return (y == y && x == x) ? mg_f32_angle(y, x) : y + x;
}

#endif
