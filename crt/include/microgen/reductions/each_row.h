/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that compute each row of a tensor for itself. */
#ifndef MICROGEN_EACH_ROW_H
#define MICROGEN_EACH_ROW_H

#include "microgen/inline.h"

/* Declares the kernel `symbol`, and defines its body: `symbol`_row(p, input, output) for each of
 * outer_size rows of `depth` elements. */
#define MG_EACH_ROW(symbol, in, out)                                                               \
    MG_DECLARE_UNARY(symbol, in, out);                                                             \
    MG_INLINE void symbol##_body(const symbol##_params *p, const in *input, out *output)           \
    {                                                                                              \
        for (int32_t row = 0; row < p->outer_size; row++) {                                        \
            symbol##_row(p, &input[row * p->depth], &output[row * p->depth]);                      \
        }                                                                                          \
    }

/* Makes `largest` the largest of `depth` integers, unless it is larger. */
#define MG_ROW_MAXIMUM(largest, input, depth)                                                      \
    for (int32_t i_ = 0; i_ < (depth); i_++) {                                                     \
        if ((input)[i_] > largest) {                                                               \
            largest = (input)[i_];                                                                 \
        }                                                                                          \
    }

#endif
