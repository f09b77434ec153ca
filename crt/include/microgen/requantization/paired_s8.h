/* SPDX-License-Identifier: Apache-2.0 */
/* Dot products of int8 values with paired weights, for cores with the Arm DSP extension.
 *
 * A halfword of weights is `second + 256 * first`, for the first and the second of two values. So
 * the same word of weights serves two products of halfwords, after its low bytes were widened:
 *
 *     high = first value - 127           times the halfword:  256 * high * first + high * second
 *     low = 256 * second value - high    times `second`:      256 * value * second - high * second
 *
 * Both together are 256 times the sum of `high * first` and `value * second`. All halves fit int16:
 * `high` is between -255 and 0, so `low` is at least -32768 and at most 256 * 127 + 255 = 32767. A
 * first weight is at least -127, so that the halfword is at least 256 * -127 - 128.
 *
 * What sums are larger by, because 127 is subtracted from the first values, is in the bias. No
 * partial sum leaves int32: microgen/kernels/requantization/paired.py adds the magnitudes of all
 * products. */
#ifndef MICROGEN_PAIRED_S8_H
#define MICROGEN_PAIRED_S8_H

#include "microgen/blocks/dsp.h"
#include "microgen/requantization/scaling_s8.h"

/* Only GCC has 14 registers to give, and only if it optimises. */
#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && !defined(__clang__)
#define MG_PAIRED_ASSEMBLY
#endif

enum {
    MG_PAIRED_COLUMN = 8, /* words of four values of four pixels: high of each, low of each */
    MG_PAIRED_STACK = 320 /* words of stack of the kernels that need no scratch memory */
};

/* Where the columns of four pixels are. */
enum {
    MG_IN_SCRATCH, /* in the scratch memory, which is aligned to 4 bytes */
    MG_ON_STACK    /* in MG_PAIRED_STACK words of stack */
};

/* What a block of pixels is computed with: `steps` groups of four values, and their weights. */
typedef struct {
    const int32_t *weight;
    const int32_t *bias;
    int32_t steps;
    int32_t channels;
} mg_paired_filters;

/* The sums of four pixels for two channels. */
typedef struct {
    int32_t a[4];
    int32_t b[4];
} mg_paired_sums;

/* -127 in both halves, which is subtracted from first values. GCC would load it again for each of
 * them. */
MG_INLINE uint32_t mg_paired_less(void)
{
    uint32_t less = 0xFF81FF81U;
#if defined(__GNUC__) && defined(__OPTIMIZE__)
    __asm__("" : "+r"(less));
#endif
    return less;
}

/* Stores a word of four values as `high` and `low`, which are `apart` words apart. */
MG_INLINE void mg_paired_put(uint32_t *to, int32_t apart, uint32_t values, uint32_t less)
{
    const uint32_t high = mg_sxtab16(less, values);

    to[0] = high;
    to[apart] = mg_ssub16(values & 0xFF00FF00U, high);
}

/* Adds the products of four pixels with two channels. Returns the next channels' weights. */
#ifdef MG_PAIRED_ASSEMBLY

/* GCC keeps eight sums and their operands in registers only if it is told the instructions: they
 * take all 14 registers. So the end of the loop is compared with memory, once in four steps. */
#define MG_PAIRED_TWO(w, v, a0, b0, a1, b1)                                                        \
    "ldrd %[x], %[y], [%[values]], #8\n"                                                           \
    "smlad %[" a0 "], %[x], %[" w "], %[" a0 "]\n"                                                 \
    "smlad %[" b0 "], %[x], %[" v "], %[" b0 "]\n"                                                 \
    "smlad %[" a1 "], %[y], %[" w "], %[" a1 "]\n"                                                 \
    "smlad %[" b1 "], %[y], %[" v "], %[" b1 "]\n"
#define MG_PAIRED_FOUR                                                                             \
    MG_PAIRED_TWO("w", "v", "a0", "b0", "a1", "b1")                                                \
    MG_PAIRED_TWO("w", "v", "a2", "b2", "a3", "b3")
#define MG_PAIRED_STEP                                                                             \
    "ldrd %[w], %[v], [%[weight]], #8\n" MG_PAIRED_FOUR "sxtb16 %[w], %[w]\n"                      \
    "sxtb16 %[v], %[v]\n" MG_PAIRED_FOUR

#define MG_PAIRED_STEPS                                                                            \
    "4:\n" MG_PAIRED_STEP "3:\n" MG_PAIRED_STEP "2:\n" MG_PAIRED_STEP "1:\n" MG_PAIRED_STEP        \
    "ldr %[x], %[end]\n"                                                                           \
    "cmp %[values], %[x]\n"                                                                        \
    "bne 4b\n"

/* Jumps to the label before the first step. `w` has the number of steps modulo 4. */
#define MG_PAIRED_ENTRY                                                                            \
    "tbb [pc, %[w]]\n"                                                                             \
    "5:\n"                                                                                         \
    ".byte (4f - 5b) / 2, (1f - 5b) / 2, (2f - 5b) / 2, (3f - 5b) / 2\n"
#define MG_PAIRED_LOOP MG_PAIRED_ENTRY MG_PAIRED_STEPS

MG_INLINE const int32_t *mg_paired_add(mg_paired_sums *sums, const uint32_t *values,
                                       const int32_t *weight, int32_t steps)
{
    const uint32_t *volatile const end = values + steps * MG_PAIRED_COLUMN;
    int32_t w = steps & 3;
    int32_t v;
    uint32_t x;
    uint32_t y;

    __asm__ volatile(MG_PAIRED_LOOP
                     : [a0] "+r"(sums->a[0]), [a1] "+r"(sums->a[1]), [a2] "+r"(sums->a[2]),
                       [a3] "+r"(sums->a[3]), [b0] "+r"(sums->b[0]), [b1] "+r"(sums->b[1]),
                       [b2] "+r"(sums->b[2]), [b3] "+r"(sums->b[3]), [values] "+r"(values),
                       [weight] "+r"(weight), [w] "+r"(w), [v] "=&r"(v), [x] "=&r"(x), [y] "=&r"(y)
                     : [end] "m"(end)
                     : "cc", "memory");
    return weight;
}

/* What mg_paired_high has in memory, because its sums and their operands take all registers. */
typedef struct {
    int8_t *output; /* of the first pixel; the assembly loads it with the next */
    int32_t step;
} mg_paired_place;

/* Two channels of four pixels with MG_HIGH. x points to their multipliers, and then to the next. */
#define MG_PAIRED_SCALE(a, factor)                                                                 \
    "smmul %[" a "], %[" a "], %[" factor "]\n"                                                    \
    "ssat %[" a "], #8, %[" a "], asr #10\n"
#define MG_PAIRED_SCALE_4(a, factor)                                                               \
    MG_PAIRED_SCALE(a "0", factor)                                                                 \
    MG_PAIRED_SCALE(a "1", factor)                                                                 \
    MG_PAIRED_SCALE(a "2", factor)                                                                 \
    MG_PAIRED_SCALE(a "3", factor)
#define MG_PAIRED_SCALE_HIGH                                                                       \
    "ldrd %[w], %[v], [%[x]], #8\n" MG_PAIRED_SCALE_4("a", "w")                                    \
        MG_PAIRED_SCALE_4("b", "v") "str %[x], %[factors]\n"

/* The same with MG_HIGH_MIXED. `marked` is what follows for a channel whose multiplier has a mark.
 */
#define MG_PAIRED_MIXED(a, factor, marked)                                                         \
    "cmp %[" factor "], #0\n"                                                                      \
    "bpl 6f\n" marked "b 7f\n"                                                                     \
    "6:\n" MG_PAIRED_SCALE_4(a, factor) "7:\n"

/* mg_marked. `x` is its `first`, `y` its `bits`, and `half` is the register for `half + first`. */
#define MG_PAIRED_MARKED(a, factor, half)                                                          \
    "and %[values], %[x], %[" a "], asr #31\n"                                                     \
    "smmla %[" a "], %[" a "], %[" factor "], %[" half "]\n"                                       \
    "sub %[" a "], %[" a "], %[values], lsl #1\n"                                                  \
    "asr %[" a "], %[" a "], %[y]\n"                                                               \
    "ssat %[" a "], #8, %[" a "], asr #1\n"
#define MG_PAIRED_MARKED_4(a, factor, half, at)                                                    \
    "ldr %[x], %[factors]\n"                                                                       \
    "ldr %[y], %[apart]\n"                                                                         \
    "ldr %[" half "], %[offset]\n"                                                                 \
    "add %[x], %[y], %[x], lsr #2\n"                                                               \
    "ldrb %[y], [%[x], #" at "]\n"                                                                 \
    "bic %[" factor "], %[" factor "], #0x80000000\n"                                              \
    "and %[x], %[y], #64\n"                                                                        \
    "sub %[y], %[y], %[x]\n"                                                                       \
    "lsl %[" half "], %[" half "], %[y]\n"                                                         \
    "add %[" half "], %[" half "], %[x]\n" MG_PAIRED_MARKED(a "0", factor, half)                   \
        MG_PAIRED_MARKED(a "1", factor, half) MG_PAIRED_MARKED(a "2", factor, half)                \
            MG_PAIRED_MARKED(a "3", factor, half)
#define MG_PAIRED_SCALE_MIXED                                                                      \
    "ldrd %[w], %[v], [%[x]], #8\n"                                                                \
    "str %[x], %[factors]\n" MG_PAIRED_MIXED(                                                      \
        "a", "w",                                                                                  \
        MG_PAIRED_MARKED_4("a", "w", "v", "-2") "ldr %[x], %[factors]\n"                           \
                                                "ldr %[v], [%[x], #-4]\n")                         \
        MG_PAIRED_MIXED("b", "v", MG_PAIRED_MARKED_4("b", "v", "w", "-1"))

/* The same with MG_HIGH_FPU. */
#define MG_PAIRED_CONVERT(number, factor)                                                          \
    "vcvt.f32.s32 " number ", " number "\n"                                                        \
    "vmul.f32 " number ", " number ", " factor "\n"                                                \
    "vcvtr.s32.f32 " number ", " number "\n"
#define MG_PAIRED_SATURATE(a)                                                                      \
    "add %[" a "], %[" a "], %[v]\n"                                                               \
    "ssat %[" a "], #8, %[" a "]\n"
#define MG_PAIRED_FLOAT_2(a, b, factor)                                                            \
    "vmov s2, s3, %[" a "], %[" b "]\n" MG_PAIRED_CONVERT("s2", factor)                            \
        MG_PAIRED_CONVERT("s3", factor) "vmov %[" a "], %[" b "], s2, s3\n" MG_PAIRED_SATURATE(a)  \
            MG_PAIRED_SATURATE(b)
#define MG_PAIRED_SCALE_FPU                                                                        \
    "vldm %[x]!, {s0-s1}\n"                                                                        \
    "ldr %[v], %[offset]\n" MG_PAIRED_FLOAT_2("a0", "a1", "s0")                                    \
        MG_PAIRED_FLOAT_2("a2", "a3", "s0") MG_PAIRED_FLOAT_2("b0", "b1", "s1")                    \
            MG_PAIRED_FLOAT_2("b2", "b3", "s1") "str %[x], %[factors]\n"

/* Stores four pixels of a channel, `y` bytes apart. `w` is three times y. */
#define MG_PAIRED_STORE_4(a)                                                                       \
    "strb %[" a "3], [%[x], %[w]]\n"                                                               \
    "strb %[" a "2], [%[x], %[y], lsl #1]\n"                                                       \
    "strb %[" a "1], [%[x], %[y]]\n"                                                               \
    "strb %[" a "0], [%[x]], #1\n"

/* Defines a function that computes the same as mg_paired_add and mg_paired_store_4 with one of
 * these requantizations, whose instructions are `scale`, for `pairs` pairs of channels, one or
 * more, from c on. `added` is the number in `offset`, `more` are further operands. The last
 * arguments are what the assembly clobbers. */
#define MG_PAIRED_PAIRS(name, scale, added, more, ...)                                             \
    MG_INLINE const int32_t *name(const mg_paired_filters *filters, const int32_t *weight,         \
                                  const uint32_t *columns, const int32_t *bias,                    \
                                  const mg_scaling *s, int32_t c, int8_t *output, int32_t step,    \
                                  int32_t pairs)                                                   \
    {                                                                                              \
        mg_paired_place place = {output, step};                                                    \
        const int32_t *start = bias;                                                               \
        const int32_t *factors = &s->multiplier[c];                                                \
        const uint32_t *const first = columns;                                                     \
        const uint32_t *const end = columns + filters->steps * MG_PAIRED_COLUMN;                   \
        const int32_t *const last = weight + 2 * filters->steps * pairs;                           \
        const int32_t rest = filters->steps % 4;                                                   \
        const int32_t offset = (added);                                                            \
        const uint32_t *values;                                                                    \
        int32_t w;                                                                                 \
        int32_t v;                                                                                 \
        uint32_t x;                                                                                \
        uint32_t y;                                                                                \
        int32_t a0;                                                                                \
        int32_t a1;                                                                                \
        int32_t a2;                                                                                \
        int32_t a3;                                                                                \
        int32_t b0;                                                                                \
        int32_t b1;                                                                                \
        int32_t b2;                                                                                \
        int32_t b3;                                                                                \
                                                                                                   \
        __asm__ volatile(                                                                          \
            "0:\n"                                                                                 \
            "ldr %[x], %[start]\n"                                                                 \
            "ldr %[values], %[first]\n"                                                            \
            "ldrd %[a0], %[b0], [%[x]], #8\n"                                                      \
            "str %[x], %[start]\n"                                                                 \
            "mov %[a1], %[a0]\n"                                                                   \
            "mov %[a2], %[a0]\n"                                                                   \
            "mov %[a3], %[a0]\n"                                                                   \
            "mov %[b1], %[b0]\n"                                                                   \
            "mov %[b2], %[b0]\n"                                                                   \
            "mov %[b3], %[b0]\n"                                                                   \
            "ldr %[w], %[rest]\n" MG_PAIRED_ENTRY MG_PAIRED_STEPS "ldr %[x], %[factors]\n" scale   \
            "ldrd %[x], %[y], %[place]\n"                                                          \
            "add %[w], %[y], %[y], lsl #1\n" MG_PAIRED_STORE_4("a")                                \
                MG_PAIRED_STORE_4("b") "str %[x], %[place]\n"                                      \
                                       "ldr %[y], %[last]\n"                                       \
                                       "cmp %[weight], %[y]\n"                                     \
                                       "bne 0b\n"                                                  \
            : [a0] "=&r"(a0), [a1] "=&r"(a1), [a2] "=&r"(a2), [a3] "=&r"(a3), [b0] "=&r"(b0),      \
              [b1] "=&r"(b1), [b2] "=&r"(b2), [b3] "=&r"(b3), [values] "=&r"(values),              \
              [weight] "+r"(weight), [w] "=&r"(w), [v] "=&r"(v), [x] "=&r"(x), [y] "=&r"(y),       \
              [place] "+m"(place), [start] "+m"(start), [factors] "+m"(factors)                    \
            : [first] "m"(first), [end] "m"(end), [last] "m"(last), [rest] "m"(rest),              \
              [offset] "m"(offset)more                                                             \
            : __VA_ARGS__);                                                                        \
        return weight;                                                                             \
    }

MG_PAIRED_PAIRS(mg_paired_high, MG_PAIRED_SCALE_HIGH, s->output_offset, , "cc", "memory")

/* From a quarter of the address of a channel's multiplier to the address of its shift. */
#define MG_PAIRED_APART                                                                            \
    , [apart] "m"((uintptr_t){(uintptr_t)s->shift - (uintptr_t)s->multiplier / 4U})
MG_PAIRED_PAIRS(mg_paired_mixed, MG_PAIRED_SCALE_MIXED, 1 + 2 * s->output_offset, MG_PAIRED_APART,
                "cc", "memory")
#if defined(__ARM_FP) && ((__ARM_FP & 4) != 0)
#define MG_PAIRED_FPU
MG_PAIRED_PAIRS(mg_paired_by_fpu, MG_PAIRED_SCALE_FPU, s->output_offset, , "cc", "memory", "s0",
                "s1", "s2", "s3")
#endif

#define MG_PAIRED_PIXEL_TWO(weight, a, b)                                                          \
    "ldrd %[w], %[v], [%[" weight "]], #8\n"                                                       \
    "smlad %[" a "], %[x], %[w], %[" a "]\n"                                                       \
    "smlad %[" b "], %[x], %[v], %[" b "]\n"                                                       \
    "sxtb16 %[w], %[w]\n"                                                                          \
    "sxtb16 %[v], %[v]\n"                                                                          \
    "smlad %[" a "], %[y], %[w], %[" a "]\n"                                                       \
    "smlad %[" b "], %[y], %[v], %[" b "]\n"
#define MG_PAIRED_PIXEL_STEP                                                                       \
    "ldrd %[x], %[y], [%[values]], #8\n" MG_PAIRED_PIXEL_TWO("first", "s0", "s1")                  \
        MG_PAIRED_PIXEL_TWO("second", "s2", "s3")

#define MG_PAIRED_PIXEL_LOOP                                                                       \
    MG_PAIRED_ENTRY                                                                                \
    "4:\n" MG_PAIRED_PIXEL_STEP "3:\n" MG_PAIRED_PIXEL_STEP "2:\n" MG_PAIRED_PIXEL_STEP            \
    "1:\n" MG_PAIRED_PIXEL_STEP "ldr %[x], %[end]\n"                                               \
    "cmp %[values], %[x]\n"                                                                        \
    "bne 4b\n"

/* Adds the products of one pixel with two pairs of channels. */
MG_INLINE void mg_paired_pixel_add(int32_t sums[4], const uint32_t *values, const int32_t *first,
                                   const int32_t *second, int32_t steps)
{
    const uint32_t *volatile const end = values + 2 * steps;
    int32_t w = steps & 3;
    int32_t v;
    uint32_t x;
    uint32_t y;

    __asm__ volatile(MG_PAIRED_PIXEL_LOOP
                     : [s0] "+r"(sums[0]), [s1] "+r"(sums[1]), [s2] "+r"(sums[2]),
                       [s3] "+r"(sums[3]), [values] "+r"(values), [first] "+r"(first),
                       [second] "+r"(second), [w] "+r"(w), [v] "=&r"(v), [x] "=&r"(x), [y] "=&r"(y)
                     : [end] "m"(end)
                     : "cc", "memory");
}

/* All channels but the last 0 to 3 of one pixel with MG_HIGH, for four channels or more. */
MG_INLINE void mg_paired_pixel_x4(const mg_paired_filters *filters, const int32_t *multiplier,
                                  const uint32_t *column, int8_t *output)
{
    const int32_t *start = filters->bias;
    const int32_t *factors = multiplier;
    int8_t *to = output;
    const int32_t words = 2 * filters->steps;
    const int32_t bytes = 4 * words;
    const int32_t rest = filters->steps % 4;
    const uint32_t *const end = column + words;
    const int32_t *const last = filters->weight + 2 * words * (filters->channels / 4);
    const int32_t *first = filters->weight;
    const int32_t *second = first + words;
    const uint32_t *values;
    int32_t s0;
    int32_t s1;
    int32_t s2;
    int32_t s3;
    int32_t w;
    int32_t v;
    uint32_t x;
    uint32_t y;

    __asm__ volatile(
        "0:\n"
        "ldr %[x], %[start]\n"
        "ldr %[values], %[column]\n"
        "ldrd %[s2], %[s3], [%[x], #8]\n"
        "ldrd %[s0], %[s1], [%[x]], #16\n"
        "str %[x], %[start]\n"
        "ldr %[w], %[rest]\n" MG_PAIRED_PIXEL_LOOP /**/
        "ldr %[x], %[factors]\n"
        "ldrd %[w], %[v], [%[x]], #8\n"
        "smmul %[s0], %[s0], %[w]\n"
        "smmul %[s1], %[s1], %[v]\n"
        "ldrd %[w], %[v], [%[x]], #8\n"
        "str %[x], %[factors]\n"
        "smmul %[s2], %[s2], %[w]\n"
        "smmul %[s3], %[s3], %[v]\n"
        "ldr %[x], %[to]\n"
        "ssat %[s0], #8, %[s0], asr #10\n"
        "ssat %[s1], #8, %[s1], asr #10\n"
        "ssat %[s2], #8, %[s2], asr #10\n"
        "ssat %[s3], #8, %[s3], asr #10\n"
        "strb %[s3], [%[x], #3]\n"
        "strb %[s2], [%[x], #2]\n"
        "strb %[s1], [%[x], #1]\n"
        "strb %[s0], [%[x]], #4\n"
        "str %[x], %[to]\n"
        "mov %[first], %[second]\n"
        "ldr %[x], %[bytes]\n"
        "add %[second], %[second], %[x]\n"
        "ldr %[x], %[last]\n"
        "cmp %[first], %[x]\n"
        "bne 0b\n"
        : [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3), [values] "=&r"(values),
          [first] "+r"(first), [second] "+r"(second), [w] "=&r"(w), [v] "=&r"(v), [x] "=&r"(x),
          [y] "=&r"(y), [start] "+m"(start), [factors] "+m"(factors), [to] "+m"(to)
        :
        [column] "m"(column), [end] "m"(end), [last] "m"(last), [rest] "m"(rest), [bytes] "m"(bytes)
        : "cc", "memory");
}

#else

MG_INLINE void mg_paired_add_four(int32_t sums[4], const uint32_t *values, uint32_t weights)
{
    for (int32_t i = 0; i < 4; i++) {
        sums[i] = mg_smlad(values[i], weights, sums[i]);
        sums[i] = mg_smlad(values[4 + i], mg_sxtb16(weights), sums[i]);
    }
}

MG_INLINE const int32_t *mg_paired_add(mg_paired_sums *sums, const uint32_t *values,
                                       const int32_t *weight, int32_t steps)
{
    for (int32_t i = 0; i < steps; i++) {
        mg_paired_add_four(sums->a, &values[MG_PAIRED_COLUMN * i], (uint32_t)weight[2 * i]);
        mg_paired_add_four(sums->b, &values[MG_PAIRED_COLUMN * i], (uint32_t)weight[2 * i + 1]);
    }
    return weight + 2 * steps;
}

/* Adds the products of one pixel with two pairs of channels. */
MG_INLINE void mg_paired_pixel_add(int32_t sums[4], const uint32_t *values, const int32_t *first,
                                   const int32_t *second, int32_t steps)
{
    for (int32_t i = 0; i < steps; i++) {
        for (int32_t k = 0; k < 4; k++) {
            const uint32_t pair = (uint32_t)((k < 2) ? first : second)[2 * i + k % 2];
            sums[k] = mg_smlad(values[2 * i], pair, sums[k]);
            sums[k] = mg_smlad(values[2 * i + 1], mg_sxtb16(pair), sums[k]);
        }
    }
}

#endif

/* Stores two channels of a pixel. */
MG_INLINE void mg_paired_store(const mg_scaling *s, const mg_channel *a, const mg_channel *b,
                               int32_t sum_a, int32_t sum_b, int8_t *output, int requantization)
{
    output[0] = mg_paired_output(s, a, sum_a, requantization);
    output[1] = mg_paired_output(s, b, sum_b, requantization);
}

/* Stores channels c and c + 1 of four pixels, which are `step` values apart. */
MG_INLINE void mg_paired_store_4(const mg_scaling *s, const int32_t *bias, int32_t c,
                                 mg_paired_sums *sums, int8_t *output, int32_t step,
                                 int requantization)
{
    int8_t *const last = output + c + 3 * step;
    const mg_channel a = mg_channel_of(s, bias, c, requantization);
    const mg_channel b = mg_channel_of(s, bias, c + 1, requantization);
    mg_paired_store(s, &a, &b, sums->a[3], sums->b[3], last, requantization);
    mg_paired_store(s, &a, &b, sums->a[2], sums->b[2], last - step, requantization);
    mg_paired_store(s, &a, &b, sums->a[1], sums->b[1], last - 2 * step, requantization);
    mg_paired_store(s, &a, &b, sums->a[0], sums->b[0], last - 3 * step, requantization);
}

/* All channels, two or more, of four pixels whose values are in `columns`. The pixels of the output
 * are `step` values apart. The last two channels have weights of their own: if the number of
 * channels is odd, the first of them is computed twice. */
MG_INLINE void mg_paired_block_body(const mg_paired_filters *filters, const mg_scaling *s,
                                    const uint32_t *columns, int8_t *output, int32_t step,
                                    int requantization)
{
    const int32_t *weight = filters->weight;
    const int32_t last = filters->channels - 2;

    for (int32_t c = 0; c < last + 2; c += 2) {
        const int32_t at = (c < last) ? c : last;
        const int32_t a = mg_paired_start(filters->bias, at, requantization);
        const int32_t b = mg_paired_start(filters->bias, at + 1, requantization);
        mg_paired_sums sums = {{a, a, a, a}, {b, b, b, b}};

        weight = mg_paired_add(&sums, columns, weight, filters->steps);
        mg_paired_store_4(s, filters->bias, at, &sums, output, step, requantization);
    }
}

/* Stores two channels of a pixel, from c on. */
MG_INLINE void mg_paired_store_pair(const mg_scaling *s, const int32_t *bias, int32_t c,
                                    const int32_t sums[2], int8_t *output, int requantization)
{
    const mg_channel a = mg_channel_of(s, bias, c, requantization);
    const mg_channel b = mg_channel_of(s, bias, c + 1, requantization);
    mg_paired_store(s, &a, &b, sums[0], sums[1], &output[c], requantization);
}

/* All channels, two or more, of one pixel from pair `begin` on, two pairs of them at a time.
 * `column` has for each four values a word of high and one of low. If the number of pairs is odd,
 * the one before the last is computed twice. */
MG_INLINE void mg_paired_pixel_body(const mg_paired_filters *filters, const mg_scaling *s,
                                    const uint32_t *column, int8_t *output, int32_t begin,
                                    int requantization)
{
    const int32_t *bias = filters->bias;
    const int32_t last = filters->channels - 2;
    const int32_t pairs = (filters->channels + 1) / 2;
    const int32_t words = 2 * filters->steps; /* of weights of a pair */

    for (int32_t pair = begin; pair < pairs; pair += 2) {
        const int32_t next = (pair + 1 < pairs) ? pair + 1 : pairs - 1;
        const int32_t first = (next > 0) ? next - 1 : 0;
        const int32_t c = (2 * first < last) ? 2 * first : last;
        const int32_t d = (2 * next < last) ? 2 * next : last;
        int32_t sums[4] = {
            mg_paired_start(bias, c, requantization), mg_paired_start(bias, c + 1, requantization),
            mg_paired_start(bias, d, requantization), mg_paired_start(bias, d + 1, requantization)};

        mg_paired_pixel_add(sums, column, &filters->weight[words * first],
                            &filters->weight[words * next], filters->steps);
        mg_paired_store_pair(s, bias, c, &sums[0], output, requantization);
        mg_paired_store_pair(s, bias, d, &sums[2], output, requantization);
    }
}

/* The assembly above takes all registers, so the stack of its function must be small enough to be
 * addressed without one. The functions are therefore not inlined: callers may have columns on their
 * stacks. */
#define MG_PAIRED_BLOCK(name, requantization)                                                      \
    MG_ONCE void name(const mg_paired_filters *filters, const mg_scaling *s,                       \
                      const uint32_t *columns, int8_t *output, int32_t step)                       \
    {                                                                                              \
        mg_paired_block_body(filters, s, columns, output, step, requantization);                   \
    }

/* The same by a function of MG_PAIRED_PAIRS. */
#define MG_PAIRED_BLOCK_OF(name, function)                                                         \
    MG_ONCE void name(const mg_paired_filters *filters, const mg_scaling *s,                       \
                      const uint32_t *columns, int8_t *output, int32_t step)                       \
    {                                                                                              \
        const int32_t *weight = filters->weight;                                                   \
        int32_t c = 0;                                                                             \
        int32_t pairs = filters->channels / 2;                                                     \
                                                                                                   \
        for (int32_t runs = 1 + filters->channels % 2; runs > 0; runs--) {                         \
            weight = function(filters, weight, columns, &filters->bias[c], s, c, &output[c], step, \
                              pairs);                                                              \
            c = filters->channels - 2;                                                             \
            pairs = 1;                                                                             \
        }                                                                                          \
    }

#ifdef MG_PAIRED_ASSEMBLY
MG_PAIRED_BLOCK_OF(mg_paired_block_high, mg_paired_high)
MG_PAIRED_BLOCK_OF(mg_paired_block_mixed, mg_paired_mixed)
#else
MG_PAIRED_BLOCK(mg_paired_block_high, MG_HIGH)
MG_PAIRED_BLOCK(mg_paired_block_mixed, MG_HIGH_MIXED)
#endif

#ifdef MG_PAIRED_FPU
MG_PAIRED_BLOCK_OF(mg_paired_block_fpu, mg_paired_by_fpu)
#else
MG_PAIRED_BLOCK(mg_paired_block_fpu, MG_HIGH_FPU)
#endif

MG_PAIRED_BLOCK(mg_paired_block_fpu_clamped, MG_HIGH_FPU_CLAMPED)
MG_PAIRED_BLOCK(mg_paired_block_clamped, MG_HIGH_CLAMPED)
MG_PAIRED_BLOCK(mg_paired_block_mixed_clamped, MG_HIGH_MIXED_CLAMPED)
MG_PAIRED_BLOCK(mg_paired_block_twice, MG_ROUND_TWICE_NARROW)
MG_PAIRED_BLOCK(mg_paired_block_upward, MG_ROUND_UPWARD_NARROW)
MG_PAIRED_BLOCK(mg_paired_block_float, MG_ROUND_FLOAT_NARROW)

#define MG_PAIRED_PIXEL(name, requantization)                                                      \
    MG_ONCE void name(const mg_paired_filters *filters, const mg_scaling *s,                       \
                      const uint32_t *column, int8_t *output)                                      \
    {                                                                                              \
        mg_paired_pixel_body(filters, s, column, output, 0, requantization);                       \
    }

#ifdef MG_PAIRED_ASSEMBLY

/* The same for MG_HIGH. */
MG_ONCE void mg_paired_pixel_high(const mg_paired_filters *filters, const mg_scaling *s,
                                  const uint32_t *column, int8_t *output)
{
    if (filters->channels >= 4) {
        mg_paired_pixel_x4(filters, s->multiplier, column, output);
    }
    mg_paired_pixel_body(filters, s, column, output, filters->channels / 4 * 2, MG_HIGH);
}

#else

MG_PAIRED_PIXEL(mg_paired_pixel_high, MG_HIGH)

#endif

MG_PAIRED_PIXEL(mg_paired_pixel_clamped, MG_HIGH_CLAMPED)
MG_PAIRED_PIXEL(mg_paired_pixel_mixed, MG_HIGH_MIXED)
MG_PAIRED_PIXEL(mg_paired_pixel_mixed_clamped, MG_HIGH_MIXED_CLAMPED)
MG_PAIRED_PIXEL(mg_paired_pixel_twice, MG_ROUND_TWICE_NARROW)
MG_PAIRED_PIXEL(mg_paired_pixel_upward, MG_ROUND_UPWARD_NARROW)
MG_PAIRED_PIXEL(mg_paired_pixel_fpu, MG_HIGH_FPU)
MG_PAIRED_PIXEL(mg_paired_pixel_fpu_clamped, MG_HIGH_FPU_CLAMPED)
MG_PAIRED_PIXEL(mg_paired_pixel_float, MG_ROUND_FLOAT_NARROW)

MG_INLINE void mg_paired_block(const mg_paired_filters *filters, const mg_scaling *s,
                               const uint32_t *columns, int8_t *output, int32_t step,
                               int requantization)
{
    if (requantization == MG_HIGH) {
        mg_paired_block_high(filters, s, columns, output, step);
    } else if (requantization == MG_HIGH_CLAMPED) {
        mg_paired_block_clamped(filters, s, columns, output, step);
    } else if (requantization == MG_ROUND_TWICE_NARROW) {
        mg_paired_block_twice(filters, s, columns, output, step);
    } else if (mg_is_mixed(requantization)) {
        ((requantization == MG_HIGH_MIXED) ? mg_paired_block_mixed : mg_paired_block_mixed_clamped)(
            filters, s, columns, output, step);
    } else if (requantization == MG_HIGH_FPU) {
        mg_paired_block_fpu(filters, s, columns, output, step);
    } else if (requantization == MG_HIGH_FPU_CLAMPED) {
        mg_paired_block_fpu_clamped(filters, s, columns, output, step);
    } else if (requantization == MG_ROUND_FLOAT_NARROW) {
        mg_paired_block_float(filters, s, columns, output, step);
    } else {
        mg_paired_block_upward(filters, s, columns, output, step);
    }
}

MG_INLINE void mg_paired_pixel(const mg_paired_filters *filters, const mg_scaling *s,
                               const uint32_t *column, int8_t *output, int requantization)
{
    if (requantization == MG_HIGH) {
        mg_paired_pixel_high(filters, s, column, output);
    } else if (requantization == MG_HIGH_CLAMPED) {
        mg_paired_pixel_clamped(filters, s, column, output);
    } else if (requantization == MG_ROUND_TWICE_NARROW) {
        mg_paired_pixel_twice(filters, s, column, output);
    } else if (mg_is_mixed(requantization)) {
        ((requantization == MG_HIGH_MIXED) ? mg_paired_pixel_mixed : mg_paired_pixel_mixed_clamped)(
            filters, s, column, output);
    } else if (requantization == MG_HIGH_FPU) {
        mg_paired_pixel_fpu(filters, s, column, output);
    } else if (requantization == MG_HIGH_FPU_CLAMPED) {
        mg_paired_pixel_fpu_clamped(filters, s, column, output);
    } else if (requantization == MG_ROUND_FLOAT_NARROW) {
        mg_paired_pixel_float(filters, s, column, output);
    } else {
        mg_paired_pixel_upward(filters, s, column, output);
    }
}

#endif
