/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of products for three pixels at a time, with two multiplications for three products.
 *
 * The values x0, x1 and x2 of three pixels are in two words, a trio:
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
 * MG_TRIO_BIAS is added, so that sums may be between -MG_TRIO_BIAS and 2^21 - 1 - MG_TRIO_BIAS.
 * Those of up to 64 products of int8 values are, because they are between -64 * 128 * 127 and
 * 64 * 128 * 128. After so many products, or more if the weights allow it, words are split. */
#ifndef MICROGEN_TRIOS_S8_H
#define MICROGEN_TRIOS_S8_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/requantization/requantize.h"

#define MG_TRIO_BIAS ((1 << 20) - (1 << 12))

/* The two words, of values or of sums. */
typedef struct {
    uint32_t first;
    uint32_t second;
} mg_trio;

/* The sums of nothing. */
#define MG_TRIO_NOTHING                                                                            \
    {                                                                                              \
        MG_TRIO_BIAS, MG_TRIO_BIAS                                                                 \
    }

/* The values of three pixels. */
MG_INLINE mg_trio mg_trio_of(int32_t x0, int32_t x1, int32_t x2)
{
    const mg_trio trio = {(uint32_t)x0 + ((uint32_t)x2 << 10), (uint32_t)x1 + ((uint32_t)x2 << 21)};
    return trio;
}

/* Adds the three sums to sums[0], sums[1] and sums[2]. */
MG_INLINE void mg_trio_split(mg_trio trio, int32_t *sums)
{
    const uint32_t mask = (1U << 21) - 1U;
    const uint32_t low = trio.second >> 21;
    const uint32_t rest = trio.first - (low << 10);

    sums[0] += (int32_t)(rest & mask) - MG_TRIO_BIAS;
    sums[1] += (int32_t)(trio.second & mask) - MG_TRIO_BIAS;
    sums[2] += mg_shift_right((int32_t)rest, 21) * (1 << 11) + (int32_t)low;
}

MG_INLINE mg_trio mg_trio_times(mg_trio sum, mg_trio values, int32_t weight)
{
    sum.first += values.first * (uint32_t)weight;
    sum.second += values.second * (uint32_t)weight;
    return sum;
}

/* Functions that are compiled once for all kernels of a file. */
#if defined(__GNUC__)
#define MG_TRIO_ONCE static __attribute__((noinline, unused))
#else
#define MG_TRIO_ONCE static inline
#endif

#if defined(__GNUC__)
#define MG_TRIO_OPAQUE(trio) __asm__("" : "+r"((trio).first), "+r"((trio).second) : : "memory")
#else
#define MG_TRIO_OPAQUE(trio) (void)(trio)
#endif

/* Makes n trios, which are `step` apart, of the values of three pixels. */
MG_TRIO_ONCE void mg_trios_pack(mg_trio *trios, int32_t step, const int8_t *x0, const int8_t *x1,
                                const int8_t *x2, int32_t n)
{
    if (n % 2 != 0) {
        *trios = mg_trio_of(*x0, *x1, *x2);
        trios += step;
    }
    for (int32_t i = n % 2; i < n; i += 2) {
        trios[0] = mg_trio_of(x0[i], x1[i], x2[i]);
        trios[step] = mg_trio_of(x0[i + 1], x1[i + 1], x2[i + 1]);
        trios += 2 * step;
    }
}

/* Makes n trios of one value. */
MG_TRIO_ONCE void mg_trios_fill(mg_trio *trios, int32_t step, int32_t value, int32_t n)
{
    const mg_trio trio = mg_trio_of(value, value, value);

    for (int32_t i = 0; i < n; i++) {
        *trios = trio;
        trios += step;
    }
}

/* Adds value + offset for each of n values of one of the three pixels. */
MG_TRIO_ONCE void mg_trios_put(mg_trio *trios, int32_t step, const int8_t *values, int32_t n,
                               int32_t offset, int32_t pixel)
{
    const uint32_t first = (pixel == 0) ? 1U : (pixel == 1) ? 0U : 1U << 10;
    const uint32_t second = (pixel == 0) ? 0U : (pixel == 1) ? 1U : 1U << 21;

    for (int32_t i = 0; i < n; i++) {
        const uint32_t value = (uint32_t)(values[i] + offset);
        trios->first += value * first;
        trios->second += value * second;
        trios += step;
    }
}

/* The words of four channels. */
typedef struct {
    mg_trio a;
    mg_trio b;
    mg_trio c;
    mg_trio d;
} mg_trios_4;

/* Adds the products of one trio with the weights of four channels. Compilers reassociate the sums
 * of several steps, and then run out of registers, unless each step's are opaque. */
MG_INLINE mg_trios_4 mg_trio_step_4(mg_trios_4 words, mg_trio values, const int8_t *weight)
{
    words.a = mg_trio_times(words.a, values, weight[0]);
    words.b = mg_trio_times(words.b, values, weight[1]);
    words.c = mg_trio_times(words.c, values, weight[2]);
    words.d = mg_trio_times(words.d, values, weight[3]);
    MG_TRIO_OPAQUE(words.a);
    MG_TRIO_OPAQUE(words.b);
    MG_TRIO_OPAQUE(words.c);
    MG_TRIO_OPAQUE(words.d);
    return words;
}

/* Adds the sums of n products of each of four channels, whose weights are interleaved, to
 * sums[channel][pixel]. */
MG_TRIO_ONCE void mg_trios_add_4(const mg_trio *trios, const int8_t *weight, int32_t n,
                                 int32_t sums[12])
{
    const mg_trio *const whole = trios + n - n % 4;
    const mg_trio *const end = trios + n;
    mg_trios_4 words = {MG_TRIO_NOTHING, MG_TRIO_NOTHING, MG_TRIO_NOTHING, MG_TRIO_NOTHING};

    while (trios != whole) {
        words = mg_trio_step_4(words, trios[0], &weight[0]);
        words = mg_trio_step_4(words, trios[1], &weight[4]);
        words = mg_trio_step_4(words, trios[2], &weight[8]);
        words = mg_trio_step_4(words, trios[3], &weight[12]);
        trios += 4;
        weight += 16;
    }
    while (trios != end) {
        words = mg_trio_step_4(words, *trios, weight);
        trios++;
        weight += 4;
    }
    const mg_trio four[4] = {words.a, words.b, words.c, words.d};
    for (int32_t i = 0; i < 4; i++) {
        mg_trio_split(four[i], &sums[3 * i]);
    }
}

/* The same for one channel, whose weights are contiguous. */
MG_TRIO_ONCE void mg_trios_add_1(const mg_trio *trios, const int8_t *weight, int32_t n,
                                 int32_t sums[3])
{
    mg_trio words = MG_TRIO_NOTHING;

    for (int32_t i = 0; i < n; i++) {
        words = mg_trio_times(words, trios[i], weight[i]);
    }
    mg_trio_split(words, sums);
}

#if defined(__GNUC__) && defined(__OPTIMIZE__) && defined(__thumb__) && !defined(__thumb2__)

/* The products of two trios with weight number `at`. */
#define MG_TRIO_STEP_THUMB(at)                                                                     \
    "movs r4, #" at "\n"                                                                           \
    "ldrsb r4, [%[weight], r4]\n"                                                                  \
    "ldmia %[trios]!, {r2, r3}\n"                                                                  \
    "muls r2, r4\n"                                                                                \
    "muls r3, r4\n"                                                                                \
    "add r8, r2\n"                                                                                 \
    "add r9, r3\n"                                                                                 \
    "ldmia %[trios]!, {r2, r3}\n"                                                                  \
    "muls r2, r4\n"                                                                                \
    "muls r3, r4\n"                                                                                \
    "add r10, r2\n"                                                                                \
    "add r11, r3\n"

/* Adds the products of pairs of trios, whose number is a multiple of four and not 0, to two trios.
 * It is in assembly because compilers keep the sums in low registers, of which too few are then
 * left for the operands of multiplications. */
MG_INLINE void mg_trio_steps_2(mg_trio words[2], const mg_trio *trios, const mg_trio *end,
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
                     "1:\n" MG_TRIO_STEP_THUMB("0") MG_TRIO_STEP_THUMB("1") MG_TRIO_STEP_THUMB("2")
                         MG_TRIO_STEP_THUMB("3") "adds %[weight], #4\n"
                                                 "cmp %[trios], %[end]\n"
                                                 "bne 1b\n"
                                                 "mov r2, r8\n"
                                                 "mov r3, r9\n"
                                                 "stmia %[words]!, {r2, r3}\n"
                                                 "mov r2, r10\n"
                                                 "mov r3, r11\n"
                                                 "stmia %[words]!, {r2, r3}\n"
                     : [words] "+l"(words), [trios] "+l"(trios), [weight] "+l"(weight)
                     : [end] "l"(end)
                     : "r2", "r3", "r4", "r8", "r9", "r10", "r11", "cc", "memory");
}

#else

MG_INLINE void mg_trio_steps_2(mg_trio words[2], const mg_trio *trios, const mg_trio *end,
                               const int8_t *weight)
{
    mg_trio a = words[0];
    mg_trio b = words[1];

    while (trios != end) {
        a = mg_trio_times(a, trios[0], *weight);
        b = mg_trio_times(b, trios[1], *weight);
        trios += 2;
        weight++;
    }
    words[0] = a;
    words[1] = b;
}

#endif

/* Adds the sums of n products of six pixels with one channel to sums. There are two trios for each
 * weight. */
MG_TRIO_ONCE void mg_trios_add_six(const mg_trio *trios, const int8_t *weight, int32_t n,
                                   int32_t sums[6])
{
    const int32_t whole = n - n % 4;
    mg_trio words[2] = {MG_TRIO_NOTHING, MG_TRIO_NOTHING};

    if (whole > 0) {
        mg_trio_steps_2(words, trios, &trios[2 * whole], weight);
    }
    for (int32_t i = whole; i < n; i++) {
        words[0] = mg_trio_times(words[0], trios[2 * i], weight[i]);
        words[1] = mg_trio_times(words[1], trios[2 * i + 1], weight[i]);
    }
    mg_trio_split(words[0], &sums[0]);
    mg_trio_split(words[1], &sums[3]);
}

#endif
