/* SPDX-License-Identifier: Apache-2.0 */
/* Powers of float32, computed in integers: a power that is a float is exact, which float arithmetic
 * would miss. */
#ifndef MICROGEN_FLOAT_POWER_H
#define MICROGEN_FLOAT_POWER_H

#include "microgen/arithmetic/float_math.h"

/* a * b / 2^32 */
MG_INLINE uint64_t mg_wide_product_high(uint64_t a, uint32_t b)
{
    return (a >> 32) * b + (((a & 0xFFFFFFFFU) * b) >> 32);
}

/* (a * b) >> shift */
MG_INLINE uint32_t mg_product_shifted(uint32_t a, uint32_t b, int32_t shift)
{
    return (uint32_t)(((uint64_t)a * b) >> shift);
}

/* A positive number: significand * 2^exponent, with a significand in [2^23, 2^24). */
typedef struct {
    uint32_t significand;
    int32_t exponent;
} mg_power_operand;

/* The finite, positive float with these bits. */
MG_INLINE mg_power_operand mg_power_operand_of(uint32_t bits)
{
    mg_power_operand operand = {bits, 1 - MG_F32_EXPONENT_BIAS - 23};

    if (bits >= MG_F32_HIDDEN_BIT) {
        operand.significand = (bits & (MG_F32_HIDDEN_BIT - 1U)) | MG_F32_HIDDEN_BIT;
        operand.exponent = (int32_t)(bits >> 23) - MG_F32_EXPONENT_BIAS - 23;
    }
    while (operand.significand < MG_F32_HIDDEN_BIT) {
        operand.significand <<= 1;
        operand.exponent--;
    }
    return operand;
}

/* magnitude * 2^-scale, with that sign */
typedef struct {
    uint64_t magnitude;
    int32_t scale;
    int is_negative;
} mg_power_logarithm;

/* The binary logarithm of x, within 2^-36 of itself. With x = 2^n m, m in [sqrt(1/2), sqrt(2)), and
 * s = (m - 1) / (m + 1), it is n + 2 / ln(2) * (s + s^3 / 3 + s^5 / 5 + ...). */
MG_INLINE mg_power_logarithm mg_power_log2(const mg_power_operand *x)
{
    const int is_upper = x->significand > 11863283U; /* sqrt(2) * 2^23 */
    const uint32_t one = MG_F32_HIDDEN_BIT << is_upper;
    const int is_below = x->significand < one;
    const uint32_t difference = is_below ? one - x->significand : x->significand - one;
    const uint32_t sum = x->significand + one;
    const uint64_t dividend = (uint64_t)difference << 38;
    const uint64_t rest = (dividend % sum) << 24;
    const uint64_t s = ((dividend / sum) << 24) + rest / sum; /* times 2^62 */
    const uint32_t root = (uint32_t)(s >> 28);                /* times 2^34 */
    const uint32_t z = mg_product_shifted(root, root, 31);    /* times 2^37 */
    uint32_t p = 506436026U;                                  /* times 2^32 */
    p = 612833382U + mg_product_shifted(p, z, 37);
    p = 859000667U + mg_product_shifted(p, z, 37);
    p = 1431655743U + mg_product_shifted(p, z, 37);
    const uint64_t t = s + (mg_wide_product_high(s, mg_product_shifted(p, z, 32)) >> 5);
    /* 2 / ln(2) is 3098164009 + 1545072827 * 2^-32, times 2^-30 */
    const uint64_t fraction =
        mg_wide_product_high(t, 3098164009U) + (mg_wide_product_high(t, 1545072827U) >> 32);
    const int32_t whole = x->exponent + 23 + is_upper;
    mg_power_logarithm found = {fraction, 60, is_below};

    if (whole != 0) { /* the whole number takes eight bits, the fraction is not small */
        const uint64_t added = (uint64_t)((whole < 0) ? -whole : whole) << 54;
        found.is_negative = whole < 0;
        found.magnitude =
            (is_below == found.is_negative) ? added + (fraction >> 6) : added - (fraction >> 6);
        found.scale = 54;
    }
    return found;
}

/* The magnitude of y * log2(x) times 2^32, or 2^40 if it is 2^8 or more. */
MG_INLINE uint64_t mg_power_exponent(const mg_power_logarithm *log, const mg_power_operand *y)
{
    const uint64_t most = (uint64_t)1 << 40;
    const uint64_t product = mg_wide_product_high(log->magnitude, y->significand << 8);
    const int32_t shift = log->scale - 24 - y->exponent - 32;
    uint64_t found;

    if (shift > 63) {
        return 0U;
    }
    if (shift >= 0) {
        found = product >> shift;
    } else {
        found = (shift < -40 || product > (most >> -shift)) ? most : product << -shift;
    }
    return (found > most) ? most : found;
}

/* 2^(n + f * 2^-32) as a float's bits, rounded once: n in [-257, 256]. */
MG_INLINE uint32_t mg_power_of_two_bits(int32_t n, uint32_t f)
{
    uint32_t p = 92725U; /* (2^f - 1) / f, times 2^32 */
    p = 615169U + mg_product_shifted(p, f, 32);
    p = 5766528U + mg_product_shifted(p, f, 32);
    p = 41290999U + mg_product_shifted(p, f, 32);
    p = 238392929U + mg_product_shifted(p, f, 32);
    p = 1031764452U + mg_product_shifted(p, f, 32);
    p = 2977044493U + mg_product_shifted(p, f, 32);
    uint64_t power = ((uint64_t)1 << 32) + (((uint64_t)p * f) >> 32);
    uint32_t field = 0U;

    if (n > MG_F32_EXPONENT_BIAS) {
        return MG_F32_INFINITY;
    }
    if (n < -MG_F32_EXPONENT_BIAS - 24) {
        return 0U;
    }
    if (n >= 1 - MG_F32_EXPONENT_BIAS) {
        field = (uint32_t)(n + MG_F32_EXPONENT_BIAS - 1) << 23;
    } else { /* denormal: the bits that are shifted out leave a sticky one */
        const int32_t shift = 1 - MG_F32_EXPONENT_BIAS - n;
        const uint64_t lost = power & (((uint64_t)1 << shift) - 1U);
        power = (power >> shift) | ((lost != 0U) ? 1U : 0U);
    }
    return field + (uint32_t)((power + 255U + ((power >> 9) & 1U)) >> 9);
}

/* |x|^y for positive finite numbers other than 0. */
MG_INLINE uint32_t mg_power_bits(uint32_t x_bits, uint32_t y_bits, int y_is_negative)
{
    const mg_power_operand x = mg_power_operand_of(x_bits);
    const mg_power_operand y = mg_power_operand_of(y_bits);
    const mg_power_logarithm log = mg_power_log2(&x);
    const int64_t size = (int64_t)mg_power_exponent(&log, &y);
    const int is_negative = (log.is_negative != 0) != (y_is_negative != 0);
    const int64_t exponent = (is_negative ? -size : size) + ((int64_t)257 << 32);

    return mg_power_of_two_bits((int32_t)(exponent >> 32) - 257, (uint32_t)exponent);
}

/* 2 if the finite float with these bits, without a sign, is an even whole number, 1 if it is an odd
 * one, 0 if it is none. */
MG_INLINE int mg_parity_of_f32(uint32_t bits)
{
    const int32_t point = MG_F32_EXPONENT_BIAS + 23 - (int32_t)(bits >> 23); /* bits after it */
    const uint32_t significand = (bits & (MG_F32_HIDDEN_BIT - 1U)) | MG_F32_HIDDEN_BIT;

    if (point <= 0) {
        return (point < 0) ? 2 : 2 - (int)(significand & 1U);
    }
    if (point > 23 || (significand & (((uint32_t)1 << point) - 1U)) != 0U) {
        return 0;
    }
    return 2 - (int)((significand >> point) & 1U);
}

/* |x|^y if x or y is 0 or infinite. Neither is NaN, y != 0, |x| != 1. */
MG_INLINE uint32_t mg_power_limit(uint32_t x_bits, int y_is_negative)
{
    const int is_above = x_bits > 0x3F800000U; /* 1 */
    return (is_above != (y_is_negative != 0)) ? MG_F32_INFINITY : 0U;
}

/* x^y within 0.54 ULP, and exact if it is a float. Special values are those of C99's Annex F. */
MG_INLINE float mg_f32_pow(float x, float y)
{
    const uint32_t x_bits = mg_magnitude_of_f32(x);
    const uint32_t y_bits = mg_magnitude_of_f32(y);
    const int x_is_negative = mg_bits_of_f32(x) != x_bits;
    const int y_is_negative = mg_bits_of_f32(y) != y_bits;

    if (y_bits == 0U || mg_bits_of_f32(x) == 0x3F800000U) {
        return 1.0F;
    }
    if (x_bits > MG_F32_INFINITY || y_bits > MG_F32_INFINITY) {
        return mg_f32_of_bits(MG_F32_NAN);
    }
    const int parity = (y_bits == MG_F32_INFINITY) ? 2 : mg_parity_of_f32(y_bits);
    const uint32_t sign = (x_is_negative && parity == 1) ? MG_F32_SIGN : 0U;
    if (x_bits == 0x3F800000U) { /* -1 */
        return (parity == 0) ? mg_f32_of_bits(MG_F32_NAN) : mg_f32_of_bits(0x3F800000U | sign);
    }
    if (x_bits == 0U || x_bits == MG_F32_INFINITY || y_bits == MG_F32_INFINITY) {
        return mg_f32_of_bits(mg_power_limit(x_bits, y_is_negative) | sign);
    }
    if (x_is_negative && parity == 0) {
        return mg_f32_of_bits(MG_F32_NAN);
    }
    return mg_f32_of_bits(mg_power_bits(x_bits, y_bits, y_is_negative) | sign);
}

#endif
