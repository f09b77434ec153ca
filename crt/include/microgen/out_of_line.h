/* SPDX-License-Identifier: Apache-2.0 */
/* Out-of-line forms of kernels with weights. The header of such a kernel has a body, which takes
 * constants after its arguments. For a body `mg_x_body` it has two macros:
 *
 *     MG_X_KERNEL(name, constants)   defines the function `name`, which has no other code
 *     MG_X_PROTOTYPE(name);          declares it
 *
 * A program defines a function for each choice of constants that it uses, once. The macros here
 * are for the headers. */
#ifndef MICROGEN_OUT_OF_LINE_H
#define MICROGEN_OUT_OF_LINE_H

#include <stdint.h>

/* `body` is the name of the body without _body, and `weights` the type of a weight. */
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

/* The same for kernels whose parameters have 16 bits. They are the last argument, so that operators
 * pass on all others in the places in which they get them. */
#define MG_PROTOTYPE_COMPACT(name, body, weights)                                                  \
    void name(const int8_t *input, const weights *weight, const int32_t *bias,                     \
              const int32_t *multiplier, const int8_t *shift, void *output,                        \
              const body##_params *p)

#define MG_KERNEL_COMPACT(name, body, weights, ...)                                                \
    MG_PROTOTYPE_COMPACT(name, body, weights);                                                     \
    MG_PROTOTYPE_COMPACT(name, body, weights)                                                      \
    {                                                                                              \
        body##_body(p, input, weight, bias, multiplier, shift, output, __VA_ARGS__);               \
    }

#define MG_PROTOTYPE_COMPACT_SCRATCH(name, body, weights)                                          \
    void name(const int8_t *input, const weights *weight, const int32_t *bias,                     \
              const int32_t *multiplier, const int8_t *shift, void *output, uint8_t *scratch,      \
              const body##_params *p)

#define MG_KERNEL_COMPACT_SCRATCH(name, body, weights, ...)                                        \
    MG_PROTOTYPE_COMPACT_SCRATCH(name, body, weights);                                             \
    MG_PROTOTYPE_COMPACT_SCRATCH(name, body, weights)                                              \
    {                                                                                              \
        body##_body(p, input, weight, bias, multiplier, shift, output, scratch, __VA_ARGS__);      \
    }

#endif
