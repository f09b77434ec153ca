/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies and out-of-line forms of int8 kernels with weights. The header of such a kernel has a
 * body, MG_BODY(mg_x, ...), which takes constants after its arguments. For it there are two macros:
 *
 *     MG_X_KERNEL(name, constants)   defines the function `name`, which has no other code
 *     MG_X_PROTOTYPE(name);          declares it
 *
 * A program defines a function for each choice of constants that it uses, once. The macros here
 * are for the headers. */
#ifndef MICROGEN_OUT_OF_LINE_H
#define MICROGEN_OUT_OF_LINE_H

#include <stddef.h>

#include "microgen/inline.h"

/* The arguments of kernels with weights, whose parameters are `symbol`_params. The first ones are
 * for float32, the last ones for float32 that is quantized for int8 weights. A factor is what
 * microgen/blocks/blocks_s16.h or microgen/dense/dense_factored_s16.h says. */
#define MG_ARGUMENTS_F32(symbol)                                                                   \
    const symbol##_params *p, const float *input, const float *weight, const float *bias,          \
        float *output
#define MG_ARGUMENTS_S8(symbol, weights)                                                           \
    const symbol##_params *p, const int8_t *input, const weights *weight, const int32_t *bias,     \
        const int32_t *multiplier, const int8_t *shift, int8_t *output
#define MG_ARGUMENTS_S16(symbol)                                                                   \
    const symbol##_params *p, const int16_t *input, const int8_t *weight, const int64_t *bias,     \
        const int32_t *multiplier, const int8_t *shift, int16_t *output
#define MG_ARGUMENTS_FACTORED(symbol, weights)                                                     \
    const symbol##_params *p, const int16_t *input, const weights *weight, const int32_t *bias,    \
        const int32_t *factor, int16_t *output
#define MG_ARGUMENTS_HYBRID(symbol)                                                                \
    const symbol##_params *p, const float *input, const int8_t *weight, const float *bias,         \
        const float *scale, float *output, uint8_t *scratch

/* Begins the definition of a body. `body` is its name without _body, and `weights` the type of a
 * weight. The arguments that only this body has, and the constants, follow. */
#define MG_BODY(body, weights, ...)                                                                \
    MG_INLINE void body##_body(const body##_params *p, const int8_t *input, const weights *weight, \
                               const int32_t *bias, const int32_t *multiplier,                     \
                               const int8_t *shift, void *output, __VA_ARGS__)

/* The same with a factor, without constants. */
#define MG_BODY_FACTORED(body, weights, ...)                                                       \
    MG_INLINE void body##_body(MG_ARGUMENTS_FACTORED(body, weights), __VA_ARGS__)

/* The out-of-line forms. */
#define MG_PROTOTYPE(name, body, weights)                                                          \
    void name(const body##_params *p, const int8_t *input, const weights *weight,                  \
              const int32_t *bias, const int32_t *multiplier, const int8_t *shift, void *output)

#define MG_KERNEL(name, body, weights, ...)                                                        \
    MG_PROTOTYPE(name, body, weights);                                                             \
    MG_PROTOTYPE(name, body, weights)                                                              \
    {                                                                                              \
        body##_body(p, input, weight, bias, multiplier, shift, output, __VA_ARGS__);               \
    }

/* The same for bodies that use scratch memory. */
#define MG_PROTOTYPE_SCRATCH(name, body, weights)                                                  \
    void name(const body##_params *p, const int8_t *input, const weights *weight,                  \
              const int32_t *bias, const int32_t *multiplier, const int8_t *shift, void *output,   \
              uint8_t *scratch)

#define MG_KERNEL_SCRATCH(name, body, weights, ...)                                                \
    MG_PROTOTYPE_SCRATCH(name, body, weights);                                                     \
    MG_PROTOTYPE_SCRATCH(name, body, weights)                                                      \
    {                                                                                              \
        body##_body(p, input, weight, bias, multiplier, shift, output, scratch, __VA_ARGS__);      \
    }

/* Bodies for MVE; without it, kernels are only declared. */
#if defined(__ARM_FEATURE_MVE)
#define MG_KERNEL_SCRATCH_MVE MG_KERNEL_SCRATCH
#else
#define MG_KERNEL_SCRATCH_MVE(name, body, weights, ...) MG_PROTOTYPE_SCRATCH(name, body, weights);
#endif

/* Bodies in float32 with one constant, how products are added. */
#define MG_KERNEL_F32(name, body, fused)                                                           \
    void name(MG_ARGUMENTS_F32(body));                                                             \
    void name(MG_ARGUMENTS_F32(body))                                                              \
    {                                                                                              \
        body##_body(p, input, weight, bias, output, fused);                                        \
    }

/* The same for kernels whose parameters have 16 bits. The parameters are the last argument,
 * so operators pass on all other arguments in the same places. The function returns 0, which
 * operators pass on, too. `shifts` is MG_SHIFTS, or MG_NO_SHIFTS if the requantization has none. */
#define MG_SHIFTS_DECLARED const int8_t *shift,
#define MG_SHIFTS_PASSED shift
#define MG_NO_SHIFTS_DECLARED
#define MG_NO_SHIFTS_PASSED NULL

#define MG_PROTOTYPE_COMPACT(name, body, weights, shifts)                                          \
    int32_t name(const int8_t *input, const weights *weight, const int32_t *bias,                  \
                 const int32_t *multiplier, shifts##_DECLARED void *output,                        \
                 const body##_params *p)

#define MG_KERNEL_COMPACT(name, body, weights, shifts, ...)                                        \
    MG_PROTOTYPE_COMPACT(name, body, weights, shifts);                                             \
    MG_PROTOTYPE_COMPACT(name, body, weights, shifts)                                              \
    {                                                                                              \
        body##_body(p, input, weight, bias, multiplier, shifts##_PASSED, output, __VA_ARGS__);     \
        return 0;                                                                                  \
    }

#define MG_PROTOTYPE_COMPACT_SCRATCH(name, body, weights, shifts)                                  \
    int32_t name(const int8_t *input, const weights *weight, const int32_t *bias,                  \
                 const int32_t *multiplier, shifts##_DECLARED void *output, uint8_t *scratch,      \
                 const body##_params *p)

#define MG_KERNEL_COMPACT_SCRATCH(name, body, weights, shifts, ...)                                \
    MG_PROTOTYPE_COMPACT_SCRATCH(name, body, weights, shifts);                                     \
    MG_PROTOTYPE_COMPACT_SCRATCH(name, body, weights, shifts)                                      \
    {                                                                                              \
        body##_body(p, input, weight, bias, multiplier, shifts##_PASSED, output, scratch,          \
                    __VA_ARGS__);                                                                  \
        return 0;                                                                                  \
    }

#endif
