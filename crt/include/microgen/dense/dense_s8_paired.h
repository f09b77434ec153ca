/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8, eight output channels at a time, with the paired weights of
 * paired_s8.h. */
#ifndef MICROGEN_DENSE_S8_PAIRED_H
#define MICROGEN_DENSE_S8_PAIRED_H

#include <string.h>

#include "microgen/dense/dense_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/paired_s8.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_dense_s8_params mg_dense_s8_paired_params;

/* Stores a row of data: for each four values a word of high and one of low. */
MG_INLINE void mg_dense_s8_paired_row(const int8_t *values, int32_t depth, uint32_t *to)
{
    const uint32_t less = mg_paired_less();
    const int8_t *const end = values + (depth - depth % 4);
    uint32_t left = 0;

    for (; values != end; values += 4) {
        mg_paired_put(to, 1, mg_load_4_s8(values), less);
        to += 2;
    }
    for (int32_t i = 0; i < depth % 4; i++) {
        left |= (uint32_t)(uint8_t)values[i] << (8 * i);
    }
    if (depth % 4 > 0) {
        mg_paired_put(to, 1, left, less);
    }
}

/* What a row of data is read as: the words that mg_dense_s8_paired_row stored, or the values
 * themselves, whose words are made again for each eight channels. That takes no memory, and four
 * instructions more for each four values. */
enum {
    MG_DENSE_WORDS,
    MG_DENSE_VALUES
};

/* Groups of four values whose products with any weights, times 256, are less than 2^31 together. */
enum {
    MG_DENSE_PART = 84
};

/* The end of a row that is `steps` groups of four values long. */
MG_INLINE const void *mg_dense_s8_paired_end(const void *row, int32_t steps, int form)
{
    return (const uint8_t *)row + ((form == MG_DENSE_VALUES) ? 4 : 8) * steps;
}

/* The variables of the assembly's sums. */
#define MG_DENSE_PAIRED_SUMS                                                                       \
    int32_t s0;                                                                                    \
    int32_t s1;                                                                                    \
    int32_t s2;                                                                                    \
    int32_t s3;                                                                                    \
    int32_t s4;                                                                                    \
    int32_t s5;                                                                                    \
    int32_t s6;                                                                                    \
    int32_t s7;

/* The sums of the products of a row of data with eight channels, and of `start`. Returns the next
 * channels' weights. */
#ifdef MG_PAIRED_ASSEMBLY

#define MG_DENSE_PAIRED_READ_WORDS "ldrd %[x], %[y], [%[values]], #8\n"

/* As mg_paired_put, with mg_paired_less in w. */
#define MG_DENSE_PAIRED_READ_VALUES                                                                \
    "ldr %[y], [%[values]], #4\n"                                                                  \
    "mvn %[w], #0x007E007E\n"                                                                      \
    "sxtab16 %[x], %[w], %[y]\n"                                                                   \
    "bic %[y], %[y], #0x00FF00FF\n"                                                                \
    "ssub16 %[y], %[y], %[x]\n"

#define MG_DENSE_PAIRED_TWO(a, b)                                                                  \
    "ldrd %[w], %[v], [%[weight]], #8\n"                                                           \
    "smlad %[" a "], %[x], %[w], %[" a "]\n"                                                       \
    "smlad %[" b "], %[x], %[v], %[" b "]\n"                                                       \
    "sxtb16 %[w], %[w]\n"                                                                          \
    "sxtb16 %[v], %[v]\n"                                                                          \
    "smlad %[" a "], %[y], %[w], %[" a "]\n"                                                       \
    "smlad %[" b "], %[y], %[v], %[" b "]\n"
#define MG_DENSE_PAIRED_STEP(read)                                                                 \
    read MG_DENSE_PAIRED_TWO("s0", "s1") MG_DENSE_PAIRED_TWO("s2", "s3")                           \
        MG_DENSE_PAIRED_TWO("s4", "s5") MG_DENSE_PAIRED_TWO("s6", "s7")

#define MG_DENSE_PAIRED_AT(label, read) label ":\n" MG_DENSE_PAIRED_STEP(read)
#define MG_DENSE_PAIRED_MORE                                                                       \
    "ldr %[x], %[end]\n"                                                                           \
    "cmp %[values], %[x]\n"                                                                        \
    "bne 4b\n"
#define MG_DENSE_PAIRED_LOOP(read)                                                                 \
    MG_PAIRED_ENTRY                                                                                \
    MG_DENSE_PAIRED_AT("4", read)                                                                  \
    MG_DENSE_PAIRED_AT("3", read)                                                                  \
    MG_DENSE_PAIRED_AT("2", read) MG_DENSE_PAIRED_AT("1", read) MG_DENSE_PAIRED_MORE

#define MG_DENSE_PAIRED_ADD(read)                                                                  \
    "ldrd %[s0], %[s1], [%[x], #0]\n"                                                              \
    "ldrd %[s2], %[s3], [%[x], #8]\n"                                                              \
    "ldrd %[s4], %[s5], [%[x], #16]\n"                                                             \
    "ldrd %[s6], %[s7], [%[x], #24]\n" MG_DENSE_PAIRED_LOOP(read)
#define MG_DENSE_PAIRED_ADD_OPERANDS                                                               \
    [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3), [s4] "=&r"(s4),                \
        [s5] "=&r"(s5), [s6] "=&r"(s6), [s7] "=&r"(s7), [values] "+r"(values),                     \
        [weight] "+r"(weight), [w] "+r"(w), [v] "=&r"(v), [x] "+r"(x),                             \
        [y] "=&r"(y) : [end] "m"(end) : "cc", "memory"

/* GCC does not find registers if the sums are operands that it has to load before. */
MG_INLINE const int32_t *mg_dense_s8_paired_add(int32_t sums[8], const int32_t *start,
                                                const void *values, const int32_t *weight,
                                                int32_t steps, int form)
{
    const void *volatile const end = mg_dense_s8_paired_end(values, steps, form);
    MG_DENSE_PAIRED_SUMS
    const int32_t *x = start;
    int32_t w = steps & 3;
    int32_t v;
    int32_t y;

    if (form == MG_DENSE_VALUES) {
        __asm__ volatile(MG_DENSE_PAIRED_ADD(MG_DENSE_PAIRED_READ_VALUES)
                         : MG_DENSE_PAIRED_ADD_OPERANDS);
    } else {
        __asm__ volatile(MG_DENSE_PAIRED_ADD(MG_DENSE_PAIRED_READ_WORDS)
                         : MG_DENSE_PAIRED_ADD_OPERANDS);
    }
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
    sums[4] = s4;
    sums[5] = s5;
    sums[6] = s6;
    sums[7] = s7;
    return weight;
}

/* Where the multiplier of the first of eight channels is; the assembly loads it with the next. */
typedef struct {
    const int32_t *factor;
    int32_t next; /* bytes to the next channel's multiplier, 0 if there is one for all */
} mg_dense_paired_place;

#define MG_DENSE_PAIRED_SCALE(a, b)                                                                \
    "ldr %[w], [%[x]]\n"                                                                           \
    "ldr %[v], [%[x], %[y]]\n"                                                                     \
    "add %[x], %[x], %[y], lsl #1\n"                                                               \
    "smmul %[" a "], %[" a "], %[w]\n"                                                             \
    "smmul %[" b "], %[" b "], %[v]\n"                                                             \
    "ssat %[" a "], #8, %[" a "], asr #8\n"                                                        \
    "ssat %[" b "], #8, %[" b "], asr #8\n"

/* What is before the loop for eight channels, and after it. */
#define MG_DENSE_PAIRED_BEGIN                                                                      \
    "0:\n"                                                                                         \
    "ldr %[x], %[start]\n"                                                                         \
    "ldr %[values], %[first]\n"                                                                    \
    "ldrd %[s2], %[s3], [%[x], #8]\n"                                                              \
    "ldrd %[s4], %[s5], [%[x], #16]\n"                                                             \
    "ldrd %[s6], %[s7], [%[x], #24]\n"                                                             \
    "ldrd %[s0], %[s1], [%[x]], #32\n"                                                             \
    "str %[x], %[start]\n"                                                                         \
    "ldr %[w], %[rest]\n"
#define MG_DENSE_PAIRED_SCALE_8                                                                    \
    "ldrd %[x], %[y], %[place]\n" MG_DENSE_PAIRED_SCALE("s0", "s1")                                \
        MG_DENSE_PAIRED_SCALE("s2", "s3") MG_DENSE_PAIRED_SCALE("s4", "s5")                        \
            MG_DENSE_PAIRED_SCALE("s6", "s7")
#define MG_DENSE_PAIRED_STORE_8                                                                    \
    "str %[x], %[place]\n"                                                                         \
    "ldr %[x], %[to]\n"                                                                            \
    "strb %[s7], [%[x], #7]\n"                                                                     \
    "strb %[s6], [%[x], #6]\n"                                                                     \
    "strb %[s5], [%[x], #5]\n"                                                                     \
    "strb %[s4], [%[x], #4]\n"                                                                     \
    "strb %[s3], [%[x], #3]\n"                                                                     \
    "strb %[s2], [%[x], #2]\n"                                                                     \
    "strb %[s1], [%[x], #1]\n"                                                                     \
    "strb %[s0], [%[x]], #8\n"                                                                     \
    "str %[x], %[to]\n"                                                                            \
    "ldr %[y], %[last]\n"                                                                          \
    "cmp %[weight], %[y]\n"                                                                        \
    "bne 0b\n"
#define MG_DENSE_PAIRED_HIGH(read)                                                                 \
    MG_DENSE_PAIRED_BEGIN MG_DENSE_PAIRED_LOOP(read)                                               \
    MG_DENSE_PAIRED_SCALE_8 MG_DENSE_PAIRED_STORE_8
#define MG_DENSE_PAIRED_HIGH_OPERANDS                                                              \
    [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3), [s4] "=&r"(s4),                \
        [s5] "=&r"(s5), [s6] "=&r"(s6), [s7] "=&r"(s7), [values] "=&r"(values),                    \
        [weight] "+r"(weight), [w] "=&r"(w), [v] "=&r"(v), [x] "=&r"(x), [y] "=&r"(y),             \
        [place] "+m"(place), [start] "+m"(start),                                                  \
        [to] "+m"(to)                                                                              \
        : [first] "m"(first), [end] "m"(end), [last] "m"(last), [rest] "m"(rest) : "cc", "memory"

/* The outputs of `groups` groups of eight channels, one or more, with MG_HIGH_WIDE. */
MG_INLINE const int32_t *mg_dense_s8_paired_high(const mg_paired_filters *filters,
                                                 const int32_t *weight, const void *row,
                                                 const int32_t *bias, const int32_t *multiplier,
                                                 int32_t each, int8_t *output, int32_t groups,
                                                 int form)
{
    mg_dense_paired_place place = {multiplier, 4 * each};
    const int32_t *start = bias;
    int8_t *to = output;
    const void *const first = row;
    const void *const end = mg_dense_s8_paired_end(row, filters->steps, form);
    const int32_t *const last = weight + 8 * filters->steps * groups;
    const int32_t rest = filters->steps % 4;
    const void *values;
    MG_DENSE_PAIRED_SUMS
    int32_t w;
    int32_t v;
    uint32_t x;
    uint32_t y;

    if (form == MG_DENSE_VALUES) {
        __asm__ volatile(MG_DENSE_PAIRED_HIGH(MG_DENSE_PAIRED_READ_VALUES)
                         : MG_DENSE_PAIRED_HIGH_OPERANDS);
    } else {
        __asm__ volatile(MG_DENSE_PAIRED_HIGH(MG_DENSE_PAIRED_READ_WORDS)
                         : MG_DENSE_PAIRED_HIGH_OPERANDS);
    }
    return weight;
}

#else

MG_INLINE const int32_t *mg_dense_s8_paired_add(int32_t sums[8], const int32_t *start,
                                                const void *values, const int32_t *weight,
                                                int32_t steps, int form)
{
    for (int32_t k = 0; k < 8; k++) {
        sums[k] = start[k];
    }
    for (int32_t i = 0; i < steps; i++) {
        uint32_t words[2];
        if (form == MG_DENSE_VALUES) {
            mg_paired_put(words, 1, mg_load_4_s8((const int8_t *)values + 4 * i), mg_paired_less());
        } else {
            (void)memcpy(words, (const uint32_t *)values + 2 * i, sizeof(words));
        }
        for (int32_t k = 0; k < 8; k++) {
            const uint32_t pair = (uint32_t)weight[8 * i + k];
            sums[k] = mg_smlad(words[0], pair, sums[k]);
            sums[k] = mg_smlad(words[1], mg_sxtb16(pair), sums[k]);
        }
    }
    return weight + 8 * steps;
}

#endif

/* Stores a channel whose multiplier `factor` points to, and returns where the next one's is. `each`
 * is 1 if every channel has a multiplier, 0 if there is one for all. */
MG_INLINE const int32_t *mg_dense_s8_paired_store(const mg_scaling *s, const int32_t *factor,
                                                  int32_t each, int32_t sum, int8_t *output,
                                                  int requantization)
{
    const mg_channel channel = {0, *factor, 0};
    *output = mg_paired_output(s, &channel, sum, requantization);
    return factor + each;
}

/* All channels, eight or more, of a row of data. The last eight channels have weights of their
 * s-> */
MG_INLINE void mg_dense_s8_paired_channels_body(const mg_paired_filters *filters, int32_t each,
                                                const mg_scaling *s, const void *values,
                                                int8_t *output, int form, int requantization)
{
    const int32_t *weight = filters->weight;
    const int32_t last = filters->channels - 8;

    for (int32_t c = 0; c < last + 8; c += 8) {
        const int32_t at = (c < last) ? c : last;
        const int32_t *factor = &s->multiplier[at * each];
        int8_t *to = &output[at];
        int32_t sums[8];

        weight =
            mg_dense_s8_paired_add(sums, &filters->bias[at], values, weight, filters->steps, form);
        factor = mg_dense_s8_paired_store(s, factor, each, sums[0], &to[0], requantization);
        factor = mg_dense_s8_paired_store(s, factor, each, sums[1], &to[1], requantization);
        factor = mg_dense_s8_paired_store(s, factor, each, sums[2], &to[2], requantization);
        factor = mg_dense_s8_paired_store(s, factor, each, sums[3], &to[3], requantization);
        factor = mg_dense_s8_paired_store(s, factor, each, sums[4], &to[4], requantization);
        factor = mg_dense_s8_paired_store(s, factor, each, sums[5], &to[5], requantization);
        factor = mg_dense_s8_paired_store(s, factor, each, sums[6], &to[6], requantization);
        (void)mg_dense_s8_paired_store(s, factor, each, sums[7], &to[7], requantization);
    }
}

/* The same for MG_HIGH_WIDE. */
MG_INLINE void mg_dense_s8_paired_high_body(const mg_paired_filters *filters, int32_t each,
                                            const mg_scaling *s, const void *values, int8_t *output,
                                            int form)
{
#ifdef MG_PAIRED_ASSEMBLY
    const int32_t *weight = filters->weight;
    int32_t c = 0;
    int32_t groups = filters->channels / 8;

    for (int32_t runs = (filters->channels % 8 != 0) ? 2 : 1; runs > 0; runs--) {
        weight = mg_dense_s8_paired_high(filters, weight, values, &filters->bias[c],
                                         &s->multiplier[c * each], each, &output[c], groups, form);
        c = filters->channels - 8;
        groups = 1;
    }
#else
    mg_dense_s8_paired_channels_body(filters, each, s, values, output, form, MG_HIGH_WIDE);
#endif
}

/* As in paired_s8.h, the assembly's functions have little stack: one for each form and
 * requantization. */
#define MG_DENSE_PAIRED_CORES(high, clamped, form)                                                 \
    MG_ONCE void high(const mg_paired_filters *filters, int32_t each, const mg_scaling *s,         \
                      const void *values, int8_t *output)                                          \
    {                                                                                              \
        mg_dense_s8_paired_high_body(filters, each, s, values, output, form);                      \
    }                                                                                              \
    MG_ONCE void clamped(const mg_paired_filters *filters, int32_t each, const mg_scaling *s,      \
                         const void *values, int8_t *output)                                       \
    {                                                                                              \
        mg_dense_s8_paired_channels_body(filters, each, s, values, output, form,                   \
                                         MG_HIGH_WIDE_CLAMPED);                                    \
    }

MG_DENSE_PAIRED_CORES(mg_paired_dense_high, mg_paired_dense_clamped, MG_DENSE_WORDS)

/* The sums of eight channels, not times 256 and without their bias. Returns the next channels'
 * weights. */
MG_INLINE const int32_t *mg_dense_s8_paired_sums(int32_t sums[8], const uint32_t *values,
                                                 const int32_t *weight, int32_t steps)
{
    static const int32_t zeros[8] = {0};
    int32_t part[8];
    int32_t left = (steps < MG_DENSE_PART) ? steps : MG_DENSE_PART;

    weight = mg_dense_s8_paired_add(part, zeros, values, weight, left, MG_DENSE_WORDS);
    for (int32_t k = 0; k < 8; k++) {
        sums[k] = mg_shift_right(part[k], 8);
    }
    while (steps > left) {
        steps -= left;
        values += 2 * left;
        left = (steps < MG_DENSE_PART) ? steps : MG_DENSE_PART;
        weight = mg_dense_s8_paired_add(part, zeros, values, weight, left, MG_DENSE_WORDS);
        for (int32_t k = 0; k < 8; k++) {
            sums[k] += mg_shift_right(part[k], 8);
        }
    }
    return weight;
}

/* The outputs of eight channels. The pointers are the first channel's. */
MG_INLINE void mg_dense_s8_paired_scaled(const mg_scaling *s, const int32_t *bias, int32_t each,
                                         const int32_t sums[8], int8_t *output, int requantization)
{
    int32_t multiplier = *s->multiplier;
    int32_t shift = mg_has_shift(requantization) ? *s->shift : 0;

    for (int32_t k = 0; k < 8; k++) {
        if (each != 0) {
            multiplier = s->multiplier[k];
            shift = mg_has_shift(requantization) ? s->shift[k] : 0;
        }
        if (requantization == MG_ROUND_FLOAT_FPU) {
            output[k] = mg_scaled_by_float(s, sums[k] + bias[k], multiplier);
        } else {
            output[k] = mg_scaled_narrow(s, sums[k] + bias[k], multiplier, shift, requantization);
        }
    }
}

/* All channels of a row of data with a requantization that is exact for all sums. */
MG_INLINE void mg_dense_s8_paired_exact_body(const mg_paired_filters *filters, int32_t each,
                                             const mg_scaling *s, const uint32_t *values,
                                             int8_t *output, int requantization)
{
    const int32_t *weight = filters->weight;
    const int32_t last = filters->channels - 8;
    const int is_open = (s->activation_min == INT8_MIN) && (s->activation_max == INT8_MAX);

    for (int32_t c = 0; c < last + 8; c += 8) {
        const int32_t at = (c < last) ? c : last;
        mg_scaling eight = {&s->multiplier[at * each],
                            mg_has_shift(requantization) ? &s->shift[at * each] : NULL,
                            s->output_offset, INT8_MIN, INT8_MAX};
        int32_t sums[8];

        weight = mg_dense_s8_paired_sums(sums, values, weight, filters->steps);
        if (is_open) {
            mg_dense_s8_paired_scaled(&eight, &filters->bias[at], each, sums, &output[at],
                                      requantization);
        } else {
            eight.activation_min = s->activation_min;
            eight.activation_max = s->activation_max;
            mg_dense_s8_paired_scaled(&eight, &filters->bias[at], each, sums, &output[at],
                                      requantization);
        }
    }
}

#define MG_DENSE_PAIRED_EXACT(name, requantization)                                                \
    MG_ONCE void name(const mg_paired_filters *filters, int32_t each, const mg_scaling *s,         \
                      const uint32_t *values, int8_t *output)                                      \
    {                                                                                              \
        mg_dense_s8_paired_exact_body(filters, each, s, values, output, requantization);           \
    }

MG_DENSE_PAIRED_EXACT(mg_paired_dense_twice, MG_ROUND_TWICE_NARROW)
MG_DENSE_PAIRED_EXACT(mg_paired_dense_upward, MG_ROUND_UPWARD_NARROW)
MG_DENSE_PAIRED_EXACT(mg_paired_dense_float, MG_ROUND_FLOAT_NARROW)
MG_DENSE_PAIRED_EXACT(mg_paired_dense_fpu, MG_ROUND_FLOAT_FPU)

MG_INLINE void mg_dense_s8_paired_channels(const mg_paired_filters *filters, int32_t each,
                                           const mg_scaling *s, const uint32_t *values,
                                           int8_t *output, int requantization)
{
    if (requantization == MG_HIGH_WIDE) {
        mg_paired_dense_high(filters, each, s, values, output);
    } else if (requantization == MG_ROUND_TWICE_NARROW) {
        mg_paired_dense_twice(filters, each, s, values, output);
    } else if (requantization == MG_ROUND_UPWARD_NARROW) {
        mg_paired_dense_upward(filters, each, s, values, output);
    } else if (requantization == MG_ROUND_FLOAT_NARROW) {
        mg_paired_dense_float(filters, each, s, values, output);
    } else if (requantization == MG_ROUND_FLOAT_FPU) {
        mg_paired_dense_fpu(filters, each, s, values, output);
    } else {
        mg_paired_dense_clamped(filters, each, s, values, output);
    }
}

MG_INLINE void mg_dense_s8_paired_with(const mg_dense_s8_params *p, const int8_t *input,
                                       const int32_t *weight, const int32_t *bias,
                                       const int32_t *multiplier, const int8_t *shift, void *output,
                                       uint32_t *values, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const mg_paired_filters filters = {weight, bias, (p->input_features + 3) / 4,
                                       p->output_features};

    for (int32_t n = 0; n < p->batches; n++) {
        mg_dense_s8_paired_row(&input[n * p->input_features], p->input_features, values);
        mg_dense_s8_paired_channels(&filters, p->per_channel, &scaling, values,
                                    (int8_t *)output + n * p->output_features, requantization);
    }
}

/* Computes the same as mg_dense_s8_body, with its multipliers. There must be eight
 * output channels or more. Weights are in the layout of microgen/kernels/requantization/paired.py.
 * Sums contain no zero point; the bias does. The scratch memory, aligned to 4 bytes, has two words
 * for each four input features. */
MG_BODY(mg_dense_s8_paired, int32_t, uint8_t *scratch, int requantization)
{
    mg_dense_s8_paired_with(p, input, weight, bias, multiplier, shift, output,
                            (uint32_t *)(void *)scratch, requantization);
}

#define MG_DENSE_S8_PAIRED_PROTOTYPE(name) MG_PROTOTYPE_SCRATCH(name, mg_dense_s8_paired, int32_t)
#define MG_DENSE_S8_PAIRED_KERNEL(name, ...)                                                       \
    MG_KERNEL_SCRATCH(name, mg_dense_s8_paired, int32_t, __VA_ARGS__)

#endif
