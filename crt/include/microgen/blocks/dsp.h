/* SPDX-License-Identifier: Apache-2.0 */
/* The saturating and packed 16-bit arithmetic of Arm cores, and the same in plain C for compilers
 * without such a target. Kernels that use it compute the same values everywhere. */
#ifndef MICROGEN_DSP_H
#define MICROGEN_DSP_H

#include <string.h>

#include "microgen/requantization/requantize.h"

#ifdef __ARM_FEATURE_DSP
#include <arm_acle.h>
#endif

/* Loads four int8 values from any address into a word, in memory order. */
MG_INLINE uint32_t mg_load_4_s8(const int8_t *values)
{
    uint32_t word = 0;
    memcpy(&word, values, sizeof(word));
    return word;
}

/* A word with the same int16 value in both halves. */
MG_INLINE uint32_t mg_twice_s16(int32_t value)
{
    const uint32_t low = (uint32_t)value & 0xFFFFU;
    return (low << 16) | low;
}

/* One half of a word as a signed number. */
MG_INLINE int32_t mg_low_s16(uint32_t pair)
{
    return (int32_t)((pair & 0xFFFFU) ^ 0x8000U) - 0x8000;
}

MG_INLINE int32_t mg_high_s16(uint32_t pair)
{
    return mg_low_s16(pair >> 16);
}

/* The most significant half of a word of 64 bits. */
MG_INLINE int32_t mg_high_word(int64_t x)
{
    return (int32_t)((x < 0) ? ~(~x >> 32) : (x >> 32));
}

/* Cores whose multiplications have results of 32 bits: Armv6-M and Armv8-M baseline. */
#if !defined(MG_SHORT_MULTIPLY) && (defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__))
#define MG_SHORT_MULTIPLY
#endif

/* floor((a * b + offset * 2^16) / 2^32). The sum must be in (-2^62, 2^62). */
MG_INLINE int32_t mg_product_high(int32_t a, int32_t b, int32_t offset)
{
#ifdef MG_SHORT_MULTIPLY
    /* A half is in [0, 2^16) or in [-2^15, 2^15), so each of the four products fits 32 bits. Their
     * halves that have the same weight are added, with the offset's. */
    const int32_t high_a = mg_shift_right(a, 16);
    const int32_t high_b = mg_shift_right(b, 16);
    const int32_t low_a = a & 0xFFFF;
    const int32_t low_b = b & 0xFFFF;
    const int32_t first = high_a * low_b;
    const int32_t second = low_a * high_b;
    const uint32_t low = ((uint32_t)low_a * (uint32_t)low_b) >> 16;
    const uint32_t rest = low + ((uint32_t)first & 0xFFFFU) + ((uint32_t)second & 0xFFFFU) +
                          ((uint32_t)offset & 0xFFFFU);
    return high_a * high_b + mg_shift_right(first, 16) + mg_shift_right(second, 16) +
           mg_shift_right(offset, 16) + (int32_t)(rest >> 16);
#else
    return mg_high_word((int64_t)a * b + (int64_t)offset * (1 << 16));
#endif
}

/* Define a function of one, two or three operands, which is one instruction of the Arm cores. */
#define MG_INSTRUCTION_1(symbol, type, instruction)                                                \
    MG_INLINE type symbol(type x)                                                                  \
    {                                                                                              \
        type result;                                                                               \
        __asm__(instruction : "=r"(result) : "r"(x));                                              \
        return result;                                                                             \
    }
#define MG_INSTRUCTION_2(symbol, type, instruction)                                                \
    MG_INLINE type symbol(type a, type b)                                                          \
    {                                                                                              \
        type result;                                                                               \
        __asm__(instruction : "=r"(result) : "r"(a), "r"(b));                                      \
        return result;                                                                             \
    }
#define MG_INSTRUCTION_3(symbol, instruction)                                                      \
    MG_INLINE int32_t symbol(uint32_t a, uint32_t b, int32_t sum)                                  \
    {                                                                                              \
        int32_t result;                                                                            \
        __asm__(instruction : "=r"(result) : "r"(a), "r"(b), "r"(sum));                            \
        return result;                                                                             \
    }

/* clang 14 defines the first macro for the baseline of Armv8-M, too, which has no ssat. */
#if defined(__ARM_FEATURE_SAT) && __ARM_ARCH_ISA_THUMB >= 2
#define MG_SATURATES

/* x saturated to int8. */
MG_INSTRUCTION_1(mg_as_s8, int32_t, "ssat %0, #8, %1")

/* floor(x / 2), saturated to int8. */
MG_INSTRUCTION_1(mg_half_as_s8, int32_t, "ssat %0, #8, %1, asr #1")

/* floor(x / 4), saturated to int8. */
MG_INSTRUCTION_1(mg_quarter_as_s8, int32_t, "ssat %0, #8, %1, asr #2")

/* floor(x / 16), saturated to int8. */
MG_INSTRUCTION_1(mg_sixteenth_as_s8, int32_t, "ssat %0, #8, %1, asr #4")

/* floor(x / 2^8), saturated to int8. */
MG_INSTRUCTION_1(mg_shifted_by_8_as_s8, int32_t, "ssat %0, #8, %1, asr #8")

/* floor(x / 2^10), saturated to int8. */
MG_INSTRUCTION_1(mg_shifted_by_10_as_s8, int32_t, "ssat %0, #8, %1, asr #10")

#else

#define MG_SHIFTED_AS_S8(symbol, bits)                                                             \
    MG_INLINE int32_t symbol(int32_t x)                                                            \
    {                                                                                              \
        return mg_offset_and_clamp(mg_shift_right(x, bits), 0, INT8_MIN, INT8_MAX);                \
    }

MG_SHIFTED_AS_S8(mg_as_s8, 0)
MG_SHIFTED_AS_S8(mg_half_as_s8, 1)
MG_SHIFTED_AS_S8(mg_quarter_as_s8, 2)
MG_SHIFTED_AS_S8(mg_sixteenth_as_s8, 4)
MG_SHIFTED_AS_S8(mg_shifted_by_8_as_s8, 8)
MG_SHIFTED_AS_S8(mg_shifted_by_10_as_s8, 10)

#endif

#ifdef __ARM_FEATURE_DSP

/* Bytes 0 and 2 of a word, widened to int16 each and added to a pair. */
MG_INSTRUCTION_2(mg_sxtab16, uint32_t, "sxtab16 %0, %1, %2")

/* Bytes 1 and 3 of a word, widened to int16 each and added to a pair. */
MG_INSTRUCTION_2(mg_sxtab16_odd, uint32_t, "sxtab16 %0, %1, %2, ror #8")

/* Bytes 0 and 2 of a word, widened to int16 each. */
MG_INSTRUCTION_1(mg_sxtb16, uint32_t, "sxtb16 %0, %1")

/* Bytes 1 and 3 of a word, widened to int16 each. */
MG_INSTRUCTION_1(mg_sxtb16_odd, uint32_t, "sxtb16 %0, %1, ror #8")

/* The low half of one word, and the high half of another. These three are in assembly because from
 * C the compiler masks both words first. */
MG_INSTRUCTION_2(mg_halves, uint32_t, "pkhbt %0, %1, %2")

/* The low halves of two words, in this order. */
MG_INSTRUCTION_2(mg_low_halves, uint32_t, "pkhbt %0, %1, %2, lsl #16")

/* The high halves of two words, in this order. */
MG_INLINE uint32_t mg_high_halves(uint32_t first, uint32_t second)
{
    uint32_t result;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(result) : "r"(second), "r"(first));
    return result;
}

/* The sums of the low halves and of the high halves, as a pair. */
MG_INSTRUCTION_2(mg_sadd16, uint32_t, "sadd16 %0, %1, %2")

/* The same for the differences. */
MG_INSTRUCTION_2(mg_ssub16, uint32_t, "ssub16 %0, %1, %2")

/* sum + the products of the low halves and of the high halves. */
MG_INLINE int32_t mg_smlad(uint32_t a, uint32_t b, int32_t sum)
{
    return __smlad((int16x2_t)a, (int16x2_t)b, sum);
}

/* sum + the product of the low halves. It is in assembly because from C the compiler unpacks the
 * halves first. */
MG_INSTRUCTION_3(mg_smlabb, "smlabb %0, %1, %2, %3")

/* sum + the product of the high halves. */
MG_INSTRUCTION_3(mg_smlatt, "smlatt %0, %1, %2, %3")

/* sum + the product of the high half of a and the low half of b. */
MG_INSTRUCTION_3(mg_smlatb, "smlatb %0, %1, %2, %3")

/* sum + the products of the low half of a and the high half of b, and of the other halves. */
MG_INLINE int32_t mg_smladx(uint32_t a, uint32_t b, int32_t sum)
{
    return __smladx((int16x2_t)a, (int16x2_t)b, sum);
}

/* a * b / 2^32, rounded to nearest, ties upwards. */
MG_INSTRUCTION_2(mg_smmulr, int32_t, "smmulr %0, %1, %2")

MG_INSTRUCTION_2(mg_smmul, int32_t, "smmul %0, %1, %2")

/* sum + mg_smmulr(a, b). */
MG_INLINE int32_t mg_smmlar(int32_t sum, int32_t a, int32_t b)
{
    int32_t result;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
    return result;
}

#else

MG_INLINE uint32_t mg_sxtab16(uint32_t pair, uint32_t bytes)
{
    const uint32_t low = (bytes & 0xFFU) ^ 0x80U;
    const uint32_t high = ((bytes >> 16) & 0xFFU) ^ 0x80U;
    return ((pair + low - 0x80U) & 0xFFFFU) | (((pair >> 16) + high - 0x80U) << 16);
}

MG_INLINE uint32_t mg_sxtab16_odd(uint32_t pair, uint32_t bytes)
{
    return mg_sxtab16(pair, bytes >> 8);
}

MG_INLINE uint32_t mg_sxtb16(uint32_t bytes)
{
    return mg_sxtab16(0, bytes);
}

MG_INLINE uint32_t mg_sxtb16_odd(uint32_t bytes)
{
    return mg_sxtab16(0, bytes >> 8);
}

MG_INLINE uint32_t mg_halves(uint32_t low, uint32_t high)
{
    return (low & 0xFFFFU) | (high & 0xFFFF0000U);
}

MG_INLINE uint32_t mg_low_halves(uint32_t first, uint32_t second)
{
    return (first & 0xFFFFU) | (second << 16);
}

MG_INLINE uint32_t mg_high_halves(uint32_t first, uint32_t second)
{
    return (first >> 16) | (second & 0xFFFF0000U);
}

MG_INLINE uint32_t mg_sadd16(uint32_t a, uint32_t b)
{
    return ((a + b) & 0xFFFFU) | (((a >> 16) + (b >> 16)) << 16);
}

MG_INLINE uint32_t mg_ssub16(uint32_t a, uint32_t b)
{
    return ((a - b) & 0xFFFFU) | (((a >> 16) - (b >> 16)) << 16);
}

MG_INLINE int32_t mg_smlabb(uint32_t a, uint32_t b, int32_t sum)
{
    return sum + mg_low_s16(a) * mg_low_s16(b);
}

MG_INLINE int32_t mg_smlatt(uint32_t a, uint32_t b, int32_t sum)
{
    return sum + mg_high_s16(a) * mg_high_s16(b);
}

MG_INLINE int32_t mg_smlad(uint32_t a, uint32_t b, int32_t sum)
{
    return mg_smlatt(a, b, mg_smlabb(a, b, sum));
}

MG_INLINE int32_t mg_smlatb(uint32_t a, uint32_t b, int32_t sum)
{
    return sum + mg_high_s16(a) * mg_low_s16(b);
}

MG_INLINE int32_t mg_smladx(uint32_t a, uint32_t b, int32_t sum)
{
    return mg_smlatb(a, b, mg_smlatb(b, a, sum));
}

MG_INLINE int32_t mg_smmulr(int32_t a, int32_t b)
{
    return mg_product_high(a, b, 1 << 15);
}

MG_INLINE int32_t mg_smmul(int32_t a, int32_t b)
{
    return mg_product_high(a, b, 0);
}

MG_INLINE int32_t mg_smmlar(int32_t sum, int32_t a, int32_t b)
{
    return sum + mg_smmulr(a, b);
}

#endif

#endif
