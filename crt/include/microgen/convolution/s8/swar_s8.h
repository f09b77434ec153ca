/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products for three pixels at a time, with two multiplications for three products: SIMD
 * within a register (SWAR).
 *
 * The values x0, x1 and x2 of three pixels are packed into two words:
 *
 *     x0 + x2 * 2^10   and   x1 + x2 * 2^21
 *
 * Sums of their products with the same weights, modulo 2^32, are
 *
 *     s0 + s2 * 2^10   and   s1 + s2 * 2^21,
 *
 * from which the three sums can be told if each is in a range of 2^21 numbers: the lowest 21 bits
 * of the second word are s1, and its other bits are the lowest 11 of s2. Without these, the first
 * word is s0 + (the rest of s2) * 2^21.
 *
 * MG_SWAR_BIAS is added, so that sums may be between -MG_SWAR_BIAS and 2^21 - 1 - MG_SWAR_BIAS.
 * Those of up to 64 products of int8 values are, because they are between -64 * 128 * 127 and
 * 64 * 128 * 128. After so many products, or more if the weights allow it, words are split. */
#ifndef MICROGEN_SWAR_S8_H
#define MICROGEN_SWAR_S8_H

#include "microgen/requantization/requantize.h"

#define MG_SWAR_BIAS ((1 << 20) - (1 << 12))

/* The two words, of values or of sums. */
typedef struct {
    uint32_t first;
    uint32_t second;
} mg_swar;

/* The sums of nothing. */
#define MG_SWAR_NOTHING                                                                            \
    {                                                                                              \
        MG_SWAR_BIAS, MG_SWAR_BIAS                                                                 \
    }

/* The values of three pixels. */
MG_INLINE mg_swar mg_swar_of(int32_t x0, int32_t x1, int32_t x2)
{
    const mg_swar packed = {(uint32_t)x0 + ((uint32_t)x2 << 10),
                            (uint32_t)x1 + ((uint32_t)x2 << 21)};
    return packed;
}

/* Adds the three sums to sums[0], sums[1] and sums[2]. */
MG_INLINE void mg_swar_split(mg_swar packed, int32_t *sums)
{
    const uint32_t mask = (1U << 21) - 1U;
    const uint32_t low = packed.second >> 21;
    const uint32_t rest = packed.first - (low << 10);

    sums[0] += (int32_t)(rest & mask) - MG_SWAR_BIAS;
    sums[1] += (int32_t)(packed.second & mask) - MG_SWAR_BIAS;
    sums[2] += mg_shift_right((int32_t)rest, 21) * (1 << 11) + (int32_t)low;
}

MG_INLINE mg_swar mg_swar_times(mg_swar sum, mg_swar values, int32_t weight)
{
    sum.first += values.first * (uint32_t)weight;
    sum.second += values.second * (uint32_t)weight;
    return sum;
}

/* Functions that are compiled once for all kernels of a file. */
#if defined(__GNUC__)
#define MG_SWAR_ONCE static __attribute__((noinline, unused))
#else
#define MG_SWAR_ONCE static inline
#endif

#if defined(__GNUC__)
#define MG_SWAR_OPAQUE(packed)                                                                     \
    __asm__("" : "+r"((packed).first), "+r"((packed).second) : : "memory")
#else
#define MG_SWAR_OPAQUE(packed) (void)(packed)
#endif

/* Packs n values of each of three pixels, to places that are `step` apart. */
MG_SWAR_ONCE void mg_swar_pack(mg_swar *packs, int32_t step, const int8_t *x0, const int8_t *x1,
                               const int8_t *x2, int32_t n)
{
    if (n % 2 != 0) {
        *packs = mg_swar_of(*x0, *x1, *x2);
        packs += step;
    }
    for (int32_t i = n % 2; i < n; i += 2) {
        packs[0] = mg_swar_of(x0[i], x1[i], x2[i]);
        packs[step] = mg_swar_of(x0[i + 1], x1[i + 1], x2[i + 1]);
        packs += 2 * step;
    }
}

/* Packs one value, n times, for all three pixels. */
MG_SWAR_ONCE void mg_swar_fill(mg_swar *packs, int32_t step, int32_t value, int32_t n)
{
    const mg_swar packed = mg_swar_of(value, value, value);

    for (int32_t i = 0; i < n; i++) {
        *packs = packed;
        packs += step;
    }
}

/* Adds value + offset for each of n values of one of the three pixels. */
MG_SWAR_ONCE void mg_swar_put(mg_swar *packs, int32_t step, const int8_t *values, int32_t n,
                              int32_t offset, int32_t pixel)
{
    const uint32_t first = (pixel == 0) ? 1U : (pixel == 1) ? 0U : 1U << 10;
    const uint32_t second = (pixel == 0) ? 0U : (pixel == 1) ? 1U : 1U << 21;

    for (int32_t i = 0; i < n; i++) {
        const uint32_t value = (uint32_t)(values[i] + offset);
        packs->first += value * first;
        packs->second += value * second;
        packs += step;
    }
}

/* The words of four channels. */
typedef struct {
    mg_swar a;
    mg_swar b;
    mg_swar c;
    mg_swar d;
} mg_swar_3x4;

/* Adds the products of one value of each pixel with the weights of four channels. Compilers
 * reassociate the sums of several steps, and then run out of registers, unless each step's are
 * opaque. */
MG_INLINE mg_swar_3x4 mg_swar_step_3x4(mg_swar_3x4 words, mg_swar values, const int8_t *weight)
{
    words.a = mg_swar_times(words.a, values, weight[0]);
    words.b = mg_swar_times(words.b, values, weight[1]);
    words.c = mg_swar_times(words.c, values, weight[2]);
    words.d = mg_swar_times(words.d, values, weight[3]);
    MG_SWAR_OPAQUE(words.a);
    MG_SWAR_OPAQUE(words.b);
    MG_SWAR_OPAQUE(words.c);
    MG_SWAR_OPAQUE(words.d);
    return words;
}

/* Adds the sums of n products of each of four channels, whose weights are interleaved, to
 * sums[channel][pixel]. */
MG_SWAR_ONCE void mg_swar_add_3x4(const mg_swar *packs, const int8_t *weight, int32_t n,
                                  int32_t sums[12])
{
    const mg_swar *const whole = packs + n - n % 4;
    const mg_swar *const end = packs + n;
    mg_swar_3x4 words = {MG_SWAR_NOTHING, MG_SWAR_NOTHING, MG_SWAR_NOTHING, MG_SWAR_NOTHING};

    while (packs != whole) {
        words = mg_swar_step_3x4(words, packs[0], &weight[0]);
        words = mg_swar_step_3x4(words, packs[1], &weight[4]);
        words = mg_swar_step_3x4(words, packs[2], &weight[8]);
        words = mg_swar_step_3x4(words, packs[3], &weight[12]);
        packs += 4;
        weight += 16;
    }
    while (packs != end) {
        words = mg_swar_step_3x4(words, *packs, weight);
        packs++;
        weight += 4;
    }
    const mg_swar four[4] = {words.a, words.b, words.c, words.d};
    for (int32_t i = 0; i < 4; i++) {
        mg_swar_split(four[i], &sums[3 * i]);
    }
}

/* The same for one channel, whose weights are contiguous. */
MG_SWAR_ONCE void mg_swar_add_3x1(const mg_swar *packs, const int8_t *weight, int32_t n,
                                  int32_t sums[3])
{
    mg_swar words = MG_SWAR_NOTHING;

    for (int32_t i = 0; i < n; i++) {
        words = mg_swar_times(words, packs[i], weight[i]);
    }
    mg_swar_split(words, sums);
}

#if defined(__GNUC__) && defined(__OPTIMIZE__) && defined(__thumb__) && !defined(__thumb2__)

/* The products of the values of six pixels with weight number `at`. */
#define MG_SWAR_STEP_THUMB(at)                                                                     \
    "movs r4, #" at "\n"                                                                           \
    "ldrsb r4, [%[weight], r4]\n"                                                                  \
    "ldmia %[packs]!, {r2, r3}\n"                                                                  \
    "muls r2, r4\n"                                                                                \
    "muls r3, r4\n"                                                                                \
    "add r8, r2\n"                                                                                 \
    "add r9, r3\n"                                                                                 \
    "ldmia %[packs]!, {r2, r3}\n"                                                                  \
    "muls r2, r4\n"                                                                                \
    "muls r3, r4\n"                                                                                \
    "add r10, r2\n"                                                                                \
    "add r11, r3\n"

/* Adds the products of six pixels, for weights whose number is a multiple of four and not 0.
 * It is in assembly because compilers keep the sums in low registers, of which too few are then
 * left for the operands of multiplications. */
MG_INLINE void mg_swar_steps_6x1(mg_swar words[2], const mg_swar *packs, const mg_swar *end,
                                 const int8_t *weight)
{
    __asm__ volatile(".syntax unified\n"
                     "ldmia %[words]!, {r2, r3}\n"
                     "mov r8, r2\n"
                     "mov r9, r3\n"
                     "ldmia %[words]!, {r2, r3}\n"
                     "mov r10, r2\n"
                     "mov r11, r3\n"
                     "subs %[words], #16\n"
                     "1:\n" MG_SWAR_STEP_THUMB("0") MG_SWAR_STEP_THUMB("1") MG_SWAR_STEP_THUMB("2")
                         MG_SWAR_STEP_THUMB("3") "adds %[weight], #4\n"
                                                 "cmp %[packs], %[end]\n"
                                                 "bne 1b\n"
                                                 "mov r2, r8\n"
                                                 "mov r3, r9\n"
                                                 "stmia %[words]!, {r2, r3}\n"
                                                 "mov r2, r10\n"
                                                 "mov r3, r11\n"
                                                 "stmia %[words]!, {r2, r3}\n"
                     : [words] "+l"(words), [packs] "+l"(packs), [weight] "+l"(weight)
                     : [end] "l"(end)
                     : "r2", "r3", "r4", "r8", "r9", "r10", "r11", "cc", "memory");
}

#else

MG_INLINE void mg_swar_steps_6x1(mg_swar words[2], const mg_swar *packs, const mg_swar *end,
                                 const int8_t *weight)
{
    mg_swar a = words[0];
    mg_swar b = words[1];

    while (packs != end) {
        a = mg_swar_times(a, packs[0], *weight);
        b = mg_swar_times(b, packs[1], *weight);
        packs += 2;
        weight++;
    }
    words[0] = a;
    words[1] = b;
}

#endif

/* Adds the sums of n products of six pixels with one channel to sums. Each weight has
 * the packed values of two times three pixels. */
MG_SWAR_ONCE void mg_swar_add_6x1(const mg_swar *packs, const int8_t *weight, int32_t n,
                                  int32_t sums[6])
{
    const int32_t whole = n - n % 4;
    mg_swar words[2] = {MG_SWAR_NOTHING, MG_SWAR_NOTHING};

    if (whole > 0) {
        mg_swar_steps_6x1(words, packs, &packs[2 * whole], weight);
    }
    for (int32_t i = whole; i < n; i++) {
        words[0] = mg_swar_times(words[0], packs[2 * i], weight[i]);
        words[1] = mg_swar_times(words[1], packs[2 * i + 1], weight[i]);
    }
    mg_swar_split(words[0], &sums[0]);
    mg_swar_split(words[1], &sums[3]);
}

#endif
