/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over the axes of a reduction, for kernels that sum or compare.
 *
 * `shape` has six sizes, alternately of kept and reduced axes; the first axis is kept. The output
 * has the kept axes, in order. */
#ifndef MICROGEN_REDUCTION_H
#define MICROGEN_REDUCTION_H

#include "microgen/inline.h"

/* The number of values of the output. */
MG_INLINE int32_t mg_reduction_size(const int32_t *shape)
{
    return shape[0] * shape[2] * shape[4];
}

/* The position in the input of the first value of the reduction that gives output value `index`. */
MG_INLINE int32_t mg_reduction_start(const int32_t *shape, int32_t index)
{
    const int32_t kept_4 = index % shape[4];
    const int32_t kept_2 = (index / shape[4]) % shape[2];
    const int32_t kept_0 = index / shape[4] / shape[2];
    return (((kept_0 * shape[1]) * shape[2] + kept_2) * shape[3] * shape[4] + kept_4) * shape[5];
}

/* The distance in the input between neighbours on the first and on the second reduced axis. On the
 * third it is 1. */
MG_INLINE int32_t mg_reduction_stride_1(const int32_t *shape)
{
    return shape[2] * shape[3] * shape[4] * shape[5];
}

MG_INLINE int32_t mg_reduction_stride_3(const int32_t *shape)
{
    return shape[4] * shape[5];
}

/* Reduces input [shape] to output [kept axes]. For each value of the output:
 *     state = first;
 *     state = step(p, state, value) for each value of its reduction, in order;
 *     output = result(p, state)
 * p points to a struct with `shape`, and `type` is the type of the state.
 *
 * This is a macro so that step and result work for any types and are inlined at every optimisation
 * level. */
#define MG_REDUCE(type, first, step, result, p, input, output)                                     \
    do {                                                                                           \
        const int32_t stride_1_ = mg_reduction_stride_1((p)->shape);                               \
        const int32_t stride_3_ = mg_reduction_stride_3((p)->shape);                               \
        for (int32_t o_ = 0; o_ < mg_reduction_size((p)->shape); o_++) {                           \
            const int32_t start_ = mg_reduction_start((p)->shape, o_);                             \
            type state_ = (first);                                                                 \
            for (int32_t i_ = 0; i_ < (p)->shape[1]; i_++) {                                       \
                for (int32_t j_ = 0; j_ < (p)->shape[3]; j_++) {                                   \
                    for (int32_t k_ = 0; k_ < (p)->shape[5]; k_++) {                               \
                        state_ = step((p), state_,                                                 \
                                      (input)[start_ + i_ * stride_1_ + j_ * stride_3_ + k_]);     \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
            (output)[o_] = result((p), state_);                                                    \
        }                                                                                          \
    } while (0)

/* Declares the kernel `symbol`, and defines its body by MG_REDUCE with the functions `symbol`_step
 * and `symbol`_result. */
#define MG_REDUCTION(symbol, in, type, out, first)                                                 \
    MG_DECLARE_UNARY(symbol, in, out);                                                             \
    MG_INLINE void symbol##_body(const symbol##_params *p, const in *input, out *output)           \
    {                                                                                              \
        MG_REDUCE(type, first, symbol##_step, symbol##_result, p, input, output);                  \
    }

#endif
