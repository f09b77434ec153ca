/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and products of all values up to each one, along one axis. */
#ifndef MICROGEN_CUMULATION_H
#define MICROGEN_CUMULATION_H

#include "microgen/inline.h"

typedef struct {
    int32_t outer_size; /* product of the sizes of the axes before */
    int32_t axis_size;  /* number of values of a sequence, at least 1 */
    int32_t inner_size; /* product of the sizes of the axes after */
    int32_t exclusive;  /* 1: a result lacks the value at its own place */
    int32_t reverse;    /* 1: sequences begin at the end of the axis */
} mg_cumulation_params;

/* Declares the kernel `symbol` for values of `type`, and defines its body as `symbol`_body.
 *
 * The kernel writes the results along the middle axis of input [outer_size][axis_size][inner_size]
 * into output, which has the same shape. Each result is the expression `next` of `total`, which is
 * the result before or `first`, and of `value`. Both have the type `wide`, so that integers are
 * combined modulo a power of two. Output may be the same buffer as the input; otherwise they must
 * not overlap. */
#define MG_CUMULATION(symbol, type, wide, first, next)                                             \
    typedef mg_cumulation_params symbol##_params;                                                  \
    MG_DECLARE_UNARY(symbol, type, type);                                                          \
    MG_INLINE void symbol##_sequence(const symbol##_params *p, const type *input, type *output)    \
    {                                                                                              \
        const int32_t step = (p->reverse != 0) ? -p->inner_size : p->inner_size;                   \
        int32_t at = (p->reverse != 0) ? (p->axis_size - 1) * p->inner_size : 0;                   \
        wide total = first;                                                                        \
        for (int32_t i = 0; i < p->axis_size; i++) {                                               \
            const wide before = total;                                                             \
            const wide value = (wide)input[at];                                                    \
            total = (next);                                                                        \
            output[at] = (type)((p->exclusive != 0) ? before : total);                             \
            at += step;                                                                            \
        }                                                                                          \
    }                                                                                              \
    MG_INLINE void symbol##_body(const symbol##_params *p, const type *input, type *output)        \
    {                                                                                              \
        for (int32_t outer = 0; outer < p->outer_size; outer++) {                                  \
            for (int32_t inner = 0; inner < p->inner_size; inner++) {                              \
                const int32_t begin = outer * p->axis_size * p->inner_size + inner;                \
                symbol##_sequence(p, &input[begin], &output[begin]);                               \
            }                                                                                      \
        }                                                                                          \
    }

MG_CUMULATION(mg_cumsum_s32, int32_t, uint32_t, 0, total + value)
MG_CUMULATION(mg_cumsum_s64, int64_t, uint64_t, 0, total + value)
MG_CUMULATION(mg_cumsum_f32, float, float, 0, total + value)

MG_CUMULATION(mg_cumprod_s32, int32_t, uint32_t, 1, total *value)
MG_CUMULATION(mg_cumprod_s64, int64_t, uint64_t, 1, total *value)
MG_CUMULATION(mg_cumprod_f32, float, float, 1, total *value)

#ifdef MG_CUMULATION_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_cumsum_s32, int32_t, int32_t)
MG_DEFINE_UNARY(mg_cumsum_s64, int64_t, int64_t)
MG_DEFINE_UNARY(mg_cumsum_f32, float, float)
MG_DEFINE_UNARY(mg_cumprod_s32, int32_t, int32_t)
MG_DEFINE_UNARY(mg_cumprod_s64, int64_t, int64_t)
MG_DEFINE_UNARY(mg_cumprod_f32, float, float)
#endif

#endif
