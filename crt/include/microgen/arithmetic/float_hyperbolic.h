/* SPDX-License-Identifier: Apache-2.0 */
/* Hyperbolic functions of float32, and their inverses. What float_math.h says about its functions
 * holds for these, too. */
#ifndef MICROGEN_FLOAT_HYPERBOLIC_H
#define MICROGEN_FLOAT_HYPERBOLIC_H

#include "microgen/arithmetic/float_math.h"

/* exp(x) / 2, which is finite where the larger exp(x) is not; x in [0, 104]. */
MG_INLINE float mg_half_exp(float x)
{
    const mg_exp_argument argument = mg_reduce_exp_argument(x);
    const float power = 0.5F + 0.5F * mg_expm1_of_rest(&argument);
    const int32_t half = argument.exponent / 2;
    return (power * mg_power_of_two_f32(half)) * mg_power_of_two_f32(argument.exponent - half);
}

/* sinh(x) within 1.65 ULP. */
MG_INLINE float mg_f32_sinh(float x)
{
    const uint32_t sign = mg_bits_of_f32(x) & MG_F32_SIGN;
    const float a = mg_f32_abs(x);

    if (mg_bits_of_f32(a) < 0x3F800000U) { /* 1 */
        const float z = x * x;
        const float p =
            0.166666672F + z * (0.0083333496F + z * (0.000198361595F + z * 2.81695111e-06F));
        return x + x * (z * p);
    }
    if (mg_bits_of_f32(a) > 0x42B40000U) { /* above 90: infinity, or NaN */
        return x * mg_f32_of_bits(MG_F32_INFINITY);
    }
    const float half = mg_half_exp(a);
    return mg_f32_of_bits(mg_bits_of_f32(half - 0.25F / half) | sign);
}

/* cosh(x) within 1.35 ULP. */
MG_INLINE float mg_f32_cosh(float x)
{
    const float a = mg_f32_abs(x);

    if (mg_bits_of_f32(a) > 0x42B40000U) { /* above 90: infinity, or NaN */
        return a * mg_f32_of_bits(MG_F32_INFINITY);
    }
    const float half = mg_half_exp(a);
    return half + 0.25F / half;
}

/* log(1 + x) within 1.28 ULP. -inf for -1, NaN for x < -1. */
MG_INLINE float mg_f32_log1p(float x)
{
    const float u = 1.0F + x;

    if (x > -0.29F && x < 0.41F) { /* 1 + x is within [sqrt(1/2), sqrt(2)) */
        return x - mg_log_tail(x);
    }
    const float found = mg_f32_log(u);
    if (!(u > 0.0F && u < 1.0e9F)) { /* the error of 1 + x does not matter, or u has no logarithm */
        return found;
    }
    const float lost = (x >= 1.0F) ? 1.0F - (u - x) : x - (u - 1.0F);
    return found + lost / u;
}

/* asinh(x) within 1.80 ULP. */
MG_INLINE float mg_f32_asinh(float x)
{
    const uint32_t sign = mg_bits_of_f32(x) & MG_F32_SIGN;
    const float a = mg_f32_abs(x);
    float result;

    if (a < 1048576.0F) {
        const float square = a * a;
        result = mg_f32_log1p(a + square / (1.0F + mg_f32_sqrt(1.0F + square)));
    } else {
        result = mg_f32_log(a) + (MG_LN2_HIGH + MG_LN2_LOW);
    }
    return mg_f32_of_bits(mg_bits_of_f32(result) | sign);
}

/* acosh(x) within 1.80 ULP. NaN for x < 1. */
MG_INLINE float mg_f32_acosh(float x)
{
    const float t = x - 1.0F;

    if (!(x >= 1.0F)) {
        return mg_f32_of_bits(MG_F32_NAN);
    }
    if (x < 1048576.0F) {
        return mg_f32_log1p(t + mg_f32_sqrt(t + t + t * t));
    }
    return mg_f32_log(x) + (MG_LN2_HIGH + MG_LN2_LOW);
}

/* atanh(x) within 1.82 ULP. +-inf for +-1, NaN for |x| > 1. */
MG_INLINE float mg_f32_atanh(float x)
{
    const uint32_t sign = mg_bits_of_f32(x) & MG_F32_SIGN;
    const float a = mg_f32_abs(x);
    const float quotient = (a + a) / (1.0F - a);
    const float result = 0.5F * mg_f32_log1p((a < 0.5F) ? (a + a) + a * quotient : quotient);
    return mg_f32_of_bits(mg_bits_of_f32(result) | sign);
}

/* log(1 + exp(x)) within 1.80 ULP. */
MG_INLINE float mg_f32_softplus(float x)
{
    const float tail = mg_f32_log1p(mg_f32_exp(-mg_f32_abs(x)));
    return (x > 0.0F) ? x + tail : tail;
}

/* x tanh(softplus(x)) within 3.60 ULP. NaN for -inf. With e = exp(x) the hyperbolic tangent is
 * n / (n + 2), n = e (e + 2). */
MG_INLINE float mg_f32_mish(float x)
{
    if (x > 20.0F) {
        return x;
    }
    if (x < -60.0F) { /* x exp(x), whose exponential may be a denormal: exp(x + 32) exp(-32) */
        return (x * mg_f32_exp(x + 32.0F)) * 1.26641655e-14F;
    }
    const float e = mg_f32_exp(x);
    const float n = e * (e + 2.0F);
    return x * (n / (n + 2.0F));
}

#endif
