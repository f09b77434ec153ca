/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of float32 for firmware that links no libm, computed in float and 32-bit integers only.
 *
 * "Within e ULP" means that no result is farther from the true value than e units in the last place
 * of the correctly rounded float. "Exact" means that every result is the correctly rounded float.
 * tests/crt/arithmetic/test_float_math.py reads the bounds from here and compares the functions
 * with double. The bounds are the maxima over all floats (every 61st float in ranges with a
 * constant result, or a result that equals the argument), with and without contraction into fused
 * multiply-adds.
 *
 * Infinities, NaN, signed zeros and denormal results are as in C99's Annex F, without errno or
 * exception flags. Rounding must be to nearest, and the FPU must not flush denormals to zero.
 *
 * Polynomials are minimax approximations, with coefficients from scripts/minimax.py. */
#ifndef MICROGEN_FLOAT_MATH_H
#define MICROGEN_FLOAT_MATH_H

#include "microgen/inline.h"

/* Bit patterns. Comparing them as integers orders positive floats, without soft-float calls. */
#define MG_F32_SIGN 0x80000000U
#define MG_F32_INFINITY 0x7F800000U
#define MG_F32_NAN 0x7FC00000U
#define MG_F32_HIDDEN_BIT 0x00800000U /* of a significand, which has 24 bits */
#define MG_F32_EXPONENT_BIAS 127

/* ln(2) as a sum of two constants, and 1 / ln(2). HIGH has 15 bits, so its product with an exponent
 * is exact. */
#define MG_LN2_HIGH 0.693145751953125F
#define MG_LN2_LOW 1.42860677e-06F
#define MG_LOG2_E 1.44269502F

/* A union, because memcpy would be a call: -ffreestanding stops the compiler from treating it as a
 * builtin. */
typedef union {
    float value;
    uint32_t bits;
} mg_f32_and_bits;

MG_INLINE uint32_t mg_bits_of_f32(float x)
{
    const mg_f32_and_bits both = {.value = x};
    return both.bits;
}

MG_INLINE float mg_f32_of_bits(uint32_t bits)
{
    const mg_f32_and_bits both = {.bits = bits};
    return both.value;
}

/* The bits of |x|. */
MG_INLINE uint32_t mg_magnitude_of_f32(float x)
{
    return mg_bits_of_f32(x) & ~MG_F32_SIGN;
}

/* 2^n; n in [-126, 127]. */
MG_INLINE float mg_power_of_two_f32(int32_t n)
{
    return mg_f32_of_bits((uint32_t)(n + MG_F32_EXPONENT_BIAS) << 23);
}

/* |x|, exact. */
MG_INLINE float mg_f32_abs(float x)
{
#if defined(__GNUC__)
    return __builtin_fabsf(x); /* one instruction of an FPU; never a call */
#else
    return mg_f32_of_bits(mg_magnitude_of_f32(x));
#endif
}

/* Rounding */

/* x rounded to nearest, ties away from zero, as std::round does, as int32. It is exact, saturates,
 * and is 0 for NaN. */
MG_INLINE int32_t mg_f32_round_half_away(float x)
{
    const uint32_t magnitude = mg_magnitude_of_f32(x);
    const int is_negative = mg_bits_of_f32(x) != magnitude;
    const int32_t exponent = (int32_t)(magnitude >> 23) - MG_F32_EXPONENT_BIAS;
    uint32_t rounded = (magnitude & (MG_F32_HIDDEN_BIT - 1U)) | MG_F32_HIDDEN_BIT;

    if (exponent < -1 || magnitude > MG_F32_INFINITY) {
        return 0;
    }
    if (exponent >= 31) {
        return is_negative ? INT32_MIN : INT32_MAX;
    }
    if (exponent >= 23) {
        rounded <<= exponent - 23;
    } else {
        const int32_t shift = 23 - exponent;
        const uint32_t half = (uint32_t)1 << (shift - 1);
        rounded = (rounded + half) >> shift;
    }
    return is_negative ? -(int32_t)rounded : (int32_t)rounded;
}

/* x rounded to the nearest integer, ties to even. It is exact. Adding 2^23 to a magnitude below
 * 2^23 rounds it to an integer. */
MG_INLINE float mg_f32_round_half_even(float x)
{
    const float shifter = 8388608.0F;
    const float magnitude = mg_f32_abs(x);
    const uint32_t sign = mg_bits_of_f32(x) & MG_F32_SIGN;

    if (mg_bits_of_f32(magnitude) >= 0x4B000000U) { /* 2^23 and above: an integer, or NaN */
        return x;
    }
    return mg_f32_of_bits(mg_bits_of_f32((magnitude + shifter) - shifter) | sign);
}

/* The greatest integer that is not above x. It is exact. */
MG_INLINE float mg_f32_floor(float x)
{
    const float nearest = mg_f32_round_half_even(x);
    return (nearest > x) ? nearest - 1.0F : nearest;
}

/* The least integer that is not below x. It is exact. */
MG_INLINE float mg_f32_ceil(float x)
{
    return -mg_f32_floor(-x);
}

/* Roots */

/* The square root of a significand in [2^23, 2^25) times 2^23, rounded to nearest. Two bits of the
 * radicand give one bit of the root. There are no ties, because the square of a halfway value has
 * too many bits. */
MG_INLINE uint32_t mg_sqrt_of_significand(uint32_t significand)
{
    uint32_t radicand = significand << 7; /* the top 32 of 48 bits; the others are 0 */
    uint32_t remainder = 0;
    uint32_t root = 0;

    for (int32_t bit = 0; bit < 24; bit++) {
        const uint32_t step = (root << 2) | 1U; /* (2 root + 1)^2 - (2 root)^2 */
        remainder = (remainder << 2) | (radicand >> 30);
        radicand <<= 2;
        root <<= 1;
        if (remainder >= step) {
            remainder -= step;
            root |= 1U;
        }
    }
    return root + ((remainder > root) ? 1U : 0U);
}

/* The square root, computed in integers. It is exact. */
MG_INLINE float mg_f32_sqrt_portable(float x)
{
    const uint32_t bits = mg_bits_of_f32(x);
    const uint32_t magnitude = mg_magnitude_of_f32(x);
    int32_t exponent = (int32_t)(magnitude >> 23) - MG_F32_EXPONENT_BIAS;
    uint32_t significand = (magnitude & (MG_F32_HIDDEN_BIT - 1U)) | MG_F32_HIDDEN_BIT;

    if (magnitude == 0U || bits == MG_F32_INFINITY) {
        return x;
    }
    if (bits >= MG_F32_INFINITY) {
        return mg_f32_of_bits(MG_F32_NAN); /* negative, or NaN */
    }
    if (bits < MG_F32_HIDDEN_BIT) {
        exponent++; /* denormals have the exponent of the smallest normal numbers */
        for (significand = bits; significand < MG_F32_HIDDEN_BIT; significand <<= 1) {
            exponent--;
        }
    }
    const uint32_t odd = (uint32_t)exponent & 1U;
    const int32_t half = (exponent - (int32_t)odd) / 2;
    /* the root's hidden bit adds 1 to the exponent's field */
    const uint32_t field = (uint32_t)(half + MG_F32_EXPONENT_BIAS - 1) << 23;
    return mg_f32_of_bits(field + mg_sqrt_of_significand(significand << odd));
}

/* The square root. It is exact, and NaN for x < 0, for which the compiler's builtin calls libm. */
MG_INLINE float mg_f32_sqrt(float x)
{
#if defined(__GNUC__) && defined(__arm__) && defined(__ARM_FP)
    float root;
    __asm__("vsqrt.f32 %0, %1" : "=t"(root) : "t"(x));
    return root;
#elif defined(__GNUC__) && defined(__riscv_flen)
    float root;
    __asm__("fsqrt.s %0, %1" : "=f"(root) : "f"(x));
    return root;
#else
    return mg_f32_sqrt_portable(x);
#endif
}

/* 1 / sqrt(x) within 1.50 ULP, because it is rounded twice, like 1.0F / sqrtf(x). +-inf for +-0. */
MG_INLINE float mg_f32_rsqrt(float x)
{
    return 1.0F / mg_f32_sqrt(x);
}

/* Exponentials */

/* x = exponent * ln(2) + rest - tail, with |rest - tail| <= ln(2) / 2 except for rounding
 * errors. */
typedef struct {
    int32_t exponent;
    float rest; /* exact */
    float tail;
} mg_exp_argument;

/* Reduces x with |x| <= 104. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low
 * bits. */
MG_INLINE mg_exp_argument mg_reduce_exp_argument(float x)
{
    const float shifter = 12582912.0F;
    const uint32_t shifted = mg_bits_of_f32(x * MG_LOG2_E + shifter);
    const float n = mg_f32_of_bits(shifted) - shifter;
    mg_exp_argument argument;

    argument.exponent = (int32_t)shifted - (int32_t)0x4B400000; /* the shifter's bits */
    argument.rest = x - n * MG_LN2_HIGH;
    argument.tail = n * MG_LN2_LOW;
    return argument;
}

/* exp(r) - 1 for r = rest - tail in [-0.3475, 0.3475]. */
MG_INLINE float mg_expm1_of_rest(const mg_exp_argument *argument)
{
    const float r = argument->rest - argument->tail;
    const float p =
        0.5F +
        r * (0.166666657F + r * (0.0416663587F + r * (0.00833338965F +
                                                      r * (0.00139408931F + r * 0.000198458991F))));
    return argument->rest + (r * r * p - argument->tail); /* r's rounding is not in the main term */
}

/* exp(x) within 0.87 ULP. */
MG_INLINE float mg_f32_exp(float x)
{
    const uint32_t bits = mg_bits_of_f32(x);
    const uint32_t magnitude = mg_magnitude_of_f32(x);

    if (magnitude > 0x42D00000U) { /* above 104 the result is 0 or infinity */
        if (magnitude > MG_F32_INFINITY) {
            return x;
        }
        return (bits == magnitude) ? mg_f32_of_bits(MG_F32_INFINITY) : 0.0F;
    }
    const mg_exp_argument argument = mg_reduce_exp_argument(x);
    const float power = 1.0F + mg_expm1_of_rest(&argument);
    /* 2^exponent may not be a float, so it is split into two factors. The first product is
     * exact. */
    const int32_t half = argument.exponent / 2;
    const float scaled = mg_f32_of_bits(mg_bits_of_f32(power) + ((uint32_t)half << 23));
    return scaled * mg_power_of_two_f32(argument.exponent - half);
}

/* exp(x) - 1 within 1.51 ULP. */
MG_INLINE float mg_f32_expm1(float x)
{
    const uint32_t bits = mg_bits_of_f32(x);
    const uint32_t magnitude = mg_magnitude_of_f32(x);

    if (magnitude > MG_F32_INFINITY || magnitude < 0x33000000U) {
        return x; /* NaN; or |x| < 2^-25: x^2 / 2 is negligible, and -0 is kept */
    }
    if (bits > 0xC1900000U) { /* below -18 */
        return -1.0F;
    }
    if (bits == magnitude && bits > 0x42B20000U) { /* above 89 */
        return mg_f32_of_bits(MG_F32_INFINITY);
    }
    const mg_exp_argument argument = mg_reduce_exp_argument(x);
    const float rest = mg_expm1_of_rest(&argument);
    if (argument.exponent == 0) {
        return rest;
    }
    /* 2^n * (1 + rest) - 1, halved because 2^128 is not a float */
    const float scale = mg_power_of_two_f32(argument.exponent - 1);
    return 2.0F * (scale * rest + (scale - 0.5F));
}

/* tanh(x) within 1.42 ULP. */
MG_INLINE float mg_f32_tanh(float x)
{
    const uint32_t sign = mg_bits_of_f32(x) & MG_F32_SIGN;
    const float a = mg_f32_abs(x);
    const float z = a * a;
    float result;

    if (mg_bits_of_f32(a) < 0x3F0CCCCDU) { /* 0.55: the result is at least 1/2 from there on */
        const float p =
            -0.333333164F +
            z * (0.133325845F + z * (-0.053852208F + z * (0.0210712235F + z * -0.00627355417F)));
        result = a + a * z * p;
    } else {
        result = 1.0F - 2.0F / (mg_f32_exp(a + a) + 1.0F);
    }
    return mg_f32_of_bits(mg_bits_of_f32(result) | sign);
}

/* 1 / (1 + exp(-x)) within 1.80 ULP. */
MG_INLINE float mg_f32_sigmoid(float x)
{
    const float e = mg_f32_exp(-mg_f32_abs(x)); /* at most 1, so 1 + e loses little */
    const float lower = e / (1.0F + e);
    return (mg_bits_of_f32(x) >= MG_F32_SIGN) ? e - e * lower : 1.0F - lower;
}

/* Logarithm */

/* f - log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)), so that the main term is f, which is exact:
 * log(1 + f) = 2 s + s r(s^2), and 2 s = f - s f. */
MG_INLINE float mg_log_tail(float f)
{
    const float s = f / (2.0F + f);
    const float z = s * s;
    const float r = z * (0.666667759F + z * (0.399775535F + z * 0.298715204F));
    return s * (f - r);
}

/* The natural logarithm within 0.96 ULP. -inf for +-0, NaN for x < 0. */
MG_INLINE float mg_f32_log(float x)
{
    const uint32_t sqrt_half = 0x3F3504F3U;
    uint32_t bits = mg_bits_of_f32(x);
    int32_t exponent = -MG_F32_EXPONENT_BIAS;

    if (mg_magnitude_of_f32(x) == 0U) {
        return mg_f32_of_bits(MG_F32_SIGN | MG_F32_INFINITY);
    }
    if (bits >= MG_F32_INFINITY) { /* infinity, NaN and negative numbers */
        return (bits == MG_F32_INFINITY) ? x : mg_f32_of_bits(MG_F32_NAN);
    }
    if (bits < MG_F32_HIDDEN_BIT) {
        bits = mg_bits_of_f32(x * 8388608.0F);
        exponent -= 23;
    }
    /* x = 2^exponent * m with m in [sqrt(1/2), sqrt(2)) */
    const uint32_t above = bits + (0x3F800000U - sqrt_half);
    exponent += (int32_t)(above >> 23);
    const float f = mg_f32_of_bits((above & (MG_F32_HIDDEN_BIT - 1U)) + sqrt_half) - 1.0F;
    const float n = (float)exponent;
    return n * MG_LN2_HIGH + (f - (mg_log_tail(f) - n * MG_LN2_LOW));
}

/* Sums of float32 values with an error that does not grow with the number of values. */

/* A sum and the part lost to rounding (Neumaier's method). Their total is within 1 ULP of the exact
 * sum for up to a few thousand values of the same sign. */
typedef struct {
    float sum;
    float lost;
} mg_running_sum;

MG_INLINE mg_running_sum mg_running_sum_plus(mg_running_sum s, float x)
{
    mg_running_sum next = {s.sum + x, s.lost};

    /* comparing magnitudes as integers avoids soft-float calls */
    if (mg_magnitude_of_f32(s.sum) >= mg_magnitude_of_f32(x)) {
        next.lost += (s.sum - next.sum) + x;
    } else {
        next.lost += (x - next.sum) + s.sum;
    }
    return next;
}

/* The total. It is infinite or NaN if the plain sum is. */
MG_INLINE float mg_running_sum_total(mg_running_sum s)
{
    return (mg_magnitude_of_f32(s.sum) < MG_F32_INFINITY) ? s.sum + s.lost : s.sum;
}

#endif
