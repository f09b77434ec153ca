/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layers, int16 with int8 weights that are stored as int16: four features at a
 * time, by the DSP extension. That takes twice the flash and no instructions to widen them.
 *
 * Weights are in words of two, [fours of features][pairs of a filter][4 features]. An odd number of
 * input features ends with weights of 0, and so does an incomplete four. */
#ifndef MICROGEN_DENSE_WORDS_S16_H
#define MICROGEN_DENSE_WORDS_S16_H

#include "microgen/blocks/blocks_s16.h"
#include "microgen/dense/dense_factored_s16.h"
#include "microgen/out_of_line.h"

enum {
    MG_DENSE_UNROLLED_S16 = 8 /* pairs of values that an iteration multiplies */
};

/* Adds the products of a pair of values with a pair of weights of each feature. */
MG_INLINE mg_sums_1x4_s16 mg_add_pair_1x4_s16(mg_sums_1x4_s16 sums, uint32_t pair,
                                              const int32_t *weights)
{
    sums.a = mg_smlad(pair, (uint32_t)weights[0], sums.a);
    sums.b = mg_smlad(pair, (uint32_t)weights[1], sums.b);
    sums.c = mg_smlad(pair, (uint32_t)weights[2], sums.c);
    sums.d = mg_smlad(pair, (uint32_t)weights[3], sums.d);
    return sums;
}

#if defined(__ARM_FEATURE_DSP) && defined(__OPTIMIZE__) && __ARM_ARCH_ISA_THUMB >= 2
/* What a loop needs, in the order in which the assembly loads and stores it. */
typedef struct {
    const int16_t *x;
    const int32_t *weights;
    mg_sums_1x4_s16 sums;
    const int32_t *end;
} mg_dense_state_s16;

/* clang-format off */

/* Define the loops over pairs, a multiple of eight and at least eight, up to the weights at `end`.
 * In assembly, because compilers load one word at a time. LDM takes fewer instructions than LDRD,
 * but a core that issues two instructions at a time waits for it. Registers are named, because LDM
 * needs them in order, and GCC 12 finds none for operands besides. */
#define MG_REPEAT_7(x) x x x x x x x
#define MG_DENSE_LOOP_S16(symbol, eight)                                                           \
    MG_INLINE mg_sums_1x4_s16 symbol(mg_sums_1x4_s16 sums, const int16_t *x,                       \
                                     const int32_t *weights, const int32_t *end)                   \
    {                                                                                              \
        mg_dense_state_s16 state = {x, weights, sums, end};                                        \
        register mg_dense_state_s16 *at __asm__("r0") = &state;                                    \
                                                                                                   \
        __asm__ volatile(                                                                          \
            "ldr r2, [r0, #24]\n"                                                                  \
            "push {r0, r2}\n"                                                                      \
            "ldm r0, {r1, r6, r8, r9, r10, r12}\n"                                                 \
            "1:\n"                                                                                 \
            eight                                                                                  \
            "ldr r0, [sp, #4]\n"                                                                   \
            "cmp r6, r0\n"                                                                         \
            "bne 1b\n"                                                                             \
            "pop {r0, r2}\n"                                                                       \
            "add r0, r0, #8\n"                                                                     \
            "stm r0, {r8, r9, r10, r12}"                                                           \
            : "+r"(at)                                                                             \
            :                                                                                      \
            : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "cc", "memory");       \
        return state.sums;                                                                         \
    }

#define MG_PRODUCTS_1X4_S16                                                                        \
    "smlad r8, r0, r2, r8\n"                                                                       \
    "smlad r9, r0, r3, r9\n"                                                                       \
    "smlad r10, r0, r4, r10\n"                                                                     \
    "smlad r12, r0, r5, r12\n"
#define MG_WORDS_1X4_S16                                                                           \
    "ldr r0, [r1], #4\n"                                                                           \
    "ldmia r6!, {r2-r5}\n"                                                                         \
    MG_PRODUCTS_1X4_S16
#define MG_DOUBLES_1X4_S16                                                                         \
    "smlad r8, r0, r2, r8\n"                                                                       \
    "smlad r9, r0, r3, r9\n"                                                                       \
    "ldrd r2, r3, [r6], #8\n"                                                                      \
    "smlad r10, r0, r4, r10\n"                                                                     \
    "smlad r12, r0, r5, r12\n"                                                                     \
    "ldr r0, [r1], #4\n"                                                                           \
    "ldrd r4, r5, [r6], #8\n"

MG_DENSE_LOOP_S16(mg_dense_s16_words_loop, MG_WORDS_1X4_S16 MG_REPEAT_7(MG_WORDS_1X4_S16))
MG_DENSE_LOOP_S16(mg_dense_s16_doubles_loop,
                  "ldr r0, [r1], #4\n"
                  "ldrd r2, r3, [r6], #8\n"
                  "ldrd r4, r5, [r6], #8\n"
                  MG_REPEAT_7(MG_DOUBLES_1X4_S16) MG_PRODUCTS_1X4_S16)

/* clang-format on */
#else
MG_INLINE mg_sums_1x4_s16 mg_dense_s16_words_loop(mg_sums_1x4_s16 sums, const int16_t *x,
                                                  const int32_t *weights, const int32_t *end)
{
    for (; weights != end; weights += 4) {
        sums = mg_add_pair_1x4_s16(sums, mg_load_2_s16(x), weights);
        x += 2;
    }
    return sums;
}

MG_INLINE mg_sums_1x4_s16 mg_dense_s16_doubles_loop(mg_sums_1x4_s16 sums, const int16_t *x,
                                                    const int32_t *weights, const int32_t *end)
{
    return mg_dense_s16_words_loop(sums, x, weights, end);
}
#endif

/* Adds the products of a row with four features. `doubles`, a constant, says which loop. */
MG_INLINE mg_sums_1x4_s16 mg_dense_s16_words_four(mg_sums_1x4_s16 sums, const int16_t *row,
                                                  const int32_t *weights, int32_t features,
                                                  int doubles)
{
    const int32_t pairs = features / 2;
    const int32_t rest = pairs % MG_DENSE_UNROLLED_S16;
    const int32_t *end = &weights[4 * pairs];

    if (features % 2 != 0) {
        sums = mg_add_pair_1x4_s16(sums, (uint16_t)row[features - 1], end);
    }
    for (int32_t i = rest; i > 0; i--) {
        sums = mg_add_pair_1x4_s16(sums, mg_load_2_s16(row), weights);
        row += 2;
        weights += 4;
    }
    if (weights == end) {
        return sums;
    }
    return doubles ? mg_dense_s16_doubles_loop(sums, row, weights, end)
                   : mg_dense_s16_words_loop(sums, row, weights, end);
}

/* Computes the layer. */
MG_INLINE void mg_dense_s16_in_words(const mg_dense_s16_factor_params *p, const int16_t *input,
                                     const int32_t *weight, const int32_t *bias,
                                     const int32_t *factor, int doubles, int16_t *output)
{
    const mg_factors_s16 factors = {bias, factor, p->per_channel, p->activation_min,
                                    p->activation_max};
    const int32_t pairs = (p->input_features + 1) / 2;

    for (int32_t n = 0; n < p->batches; n++) {
        const int16_t *row = &input[n * p->input_features];
        for (int32_t o = 0; o < p->output_features; o += 4) {
            const int32_t count = p->output_features - o;
            mg_store_four_s16(&factors, o, count,
                              mg_dense_s16_words_four(mg_four_biases_s16(&factors, o, count), row,
                                                      &weight[o * pairs], p->input_features,
                                                      doubles),
                              &output[n * p->output_features]);
        }
    }
}

typedef mg_dense_s16_factor_params mg_dense_s16_words_dsp_params;

/* Computes the same as mg_dense_s16_dsp, with weights in the order above. */
MG_EXTERN void mg_dense_s16_words_dsp(MG_ARGUMENTS_FACTORED(mg_dense_s16_words_dsp, int32_t));

MG_INLINE void mg_dense_s16_words_dsp_body(MG_ARGUMENTS_FACTORED(mg_dense_s16_words_dsp, int32_t))
{
    mg_dense_s16_in_words(p, input, weight, bias, factor, 0, output);
}

typedef mg_dense_s16_factor_params mg_dense_s16_doubles_dsp_params;

/* The same for cores that issue two instructions at a time. */
MG_EXTERN void mg_dense_s16_doubles_dsp(MG_ARGUMENTS_FACTORED(mg_dense_s16_doubles_dsp, int32_t));

MG_INLINE void mg_dense_s16_doubles_dsp_body(MG_ARGUMENTS_FACTORED(mg_dense_s16_doubles_dsp,
                                                                   int32_t))
{
    mg_dense_s16_in_words(p, input, weight, bias, factor, 1, output);
}

#ifdef MG_DENSE_WORDS_S16_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_dense_s16_words_dsp, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_dense_s16_words_dsp, int32_t))
MG_OUT_OF_LINE(mg_dense_s16_doubles_dsp, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_dense_s16_doubles_dsp, int32_t))
#endif

#endif
