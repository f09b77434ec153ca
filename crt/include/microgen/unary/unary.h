/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that compute each value of the output from the input's value at the same position. */
#ifndef MICROGEN_UNARY_H
#define MICROGEN_UNARY_H

#include <stdint.h>

#include "microgen/inline.h"

/* The parameters of kernels without any of their own. */
typedef struct {
    int32_t size; /* elements */
} mg_unary_params;

/* output[i] = element(p, input[i]) for each of p->size elements. This is a macro so that `element`
 * works for any types and is inlined at every optimisation level. */
#define MG_UNARY(element, p, input, output)                                                        \
    do {                                                                                           \
        for (int32_t i_ = 0; i_ < (p)->size; i_++) {                                               \
            (output)[i_] = element((p), (input)[i_]);                                              \
        }                                                                                          \
    } while (0)

/* Declares a kernel on elements of type T, without parameters of its own, and defines its body:
 *
 *     void kernel(const kernel_params *p, const T *input, T *output);
 *
 * It computes function(x) for each value of input [size] into output [size]. `T function(T)` must
 * be inline. Output may be the same buffer as the input; otherwise they must not overlap. */
#define MG_UNARY_KERNEL(kernel, T, function)                                                       \
    typedef mg_unary_params kernel##_params;                                                       \
    void kernel(const kernel##_params *p, const T *input, T *output);                              \
    MG_INLINE void kernel##_body(const kernel##_params *p, const T *input, T *output)              \
    {                                                                                              \
        for (int32_t i = 0; i < p->size; i++) {                                                    \
            output[i] = function(input[i]);                                                        \
        }                                                                                          \
    }

/* Its out-of-line form, for any parameters. */
#define MG_UNARY_SHARED(kernel, T)                                                                 \
    void kernel(const kernel##_params *p, const T *input, T *output)                               \
    {                                                                                              \
        kernel##_body(p, input, output);                                                           \
    }

#endif
