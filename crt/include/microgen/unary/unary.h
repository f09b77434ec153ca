/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that compute each value of the output from the input's value at the same position. */
#ifndef MICROGEN_UNARY_H
#define MICROGEN_UNARY_H

#include "microgen/inline.h"

/* The parameters of kernels without any of their own. */
typedef struct {
    int32_t size; /* elements */
} mg_unary_params;

/* Those of kernels that scale their input by mg_requantize. */
typedef struct {
    int32_t size;       /* elements */
    int32_t multiplier; /* Q31; microgen/requantization/requantize.h describes both */
    int32_t shift;
} mg_unary_scaled_params;

/* output[i] = element(p, input[i]) for each of p->size elements. This is a macro so that `element`
 * works for any types and is inlined at every optimisation level. */
#define MG_UNARY(element, p, input, output)                                                        \
    do {                                                                                           \
        for (int32_t i_ = 0; i_ < (p)->size; i_++) {                                               \
            (output)[i_] = element((p), (input)[i_]);                                              \
        }                                                                                          \
    } while (0)

/* Declares the kernel `symbol` and defines its body, which computes `symbol`_element(p, x) for each
 * value x of input [size] into output [size]. */
#define MG_EACH_ELEMENT(symbol, in, out)                                                           \
    MG_DECLARE_UNARY(symbol, in, out);                                                             \
    MG_INLINE void symbol##_body(const symbol##_params *p, const in *input, out *output)           \
    {                                                                                              \
        MG_UNARY(symbol##_element, p, input, output);                                              \
    }

/* Declares the kernel `symbol` on elements of `type`, without parameters of its own, and defines
 * its body, which computes function(x) for each value x of input [size] into output [size]. `type
 * function(type)` must be inline. Output may be the same buffer as the input; otherwise they must
 * not overlap. */
#define MG_UNARY_KERNEL(symbol, type, function)                                                    \
    typedef mg_unary_params symbol##_params;                                                       \
    MG_DECLARE_UNARY(symbol, type, type);                                                          \
    MG_INLINE void symbol##_body(const symbol##_params *p, const type *input, type *output)        \
    {                                                                                              \
        for (int32_t i = 0; i < p->size; i++) {                                                    \
            output[i] = function(input[i]);                                                        \
        }                                                                                          \
    }

/* The same with its out-of-line form. */
#define MG_UNARY_KERNEL_DEFINED(symbol, type, function)                                            \
    MG_UNARY_KERNEL(symbol, type, function)                                                        \
    MG_DEFINE_UNARY(symbol, type, type)

#endif
