/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of the greatest or least values along one axis. */
#ifndef MICROGEN_ARGMAX_H
#define MICROGEN_ARGMAX_H

#include <string.h>

#include "microgen/inline.h"

typedef struct {
    int32_t outer_size;   /* product of the sizes of the axes before */
    int32_t axis_size;    /* number of values compared, at least 1 */
    int32_t inner_size;   /* product of the sizes of the axes after */
    int32_t is_minimum;   /* 1: the least value; 0: the greatest */
    int32_t output_bytes; /* 4: positions are int32; 8: int64 */
} mg_argmax_params;

/* Stores output[index] = position. */
MG_INLINE void mg_argmax_store(const mg_argmax_params *p, void *output, int32_t index,
                               int32_t position)
{
    const int64_t wide = position;

    if (p->output_bytes == 8) {
        memcpy((uint8_t *)output + index * 8, &wide, 8);
    } else {
        memcpy((uint8_t *)output + index * 4, &position, 4);
    }
}

/* Declares the kernel `symbol` for values of `type`, and defines its body as `symbol`_body.
 *
 * The kernel writes the position of the extreme value along the middle axis of input
 * [outer_size][axis_size][inner_size] into output [outer_size][inner_size]. Of equal values the
 * first one wins. If the first value of a row is NaN, its position is the result; any other NaN is
 * ignored. Output must be aligned to its elements and must not overlap the input. */
#define MG_ARGMAX(symbol, type)                                                                    \
    typedef mg_argmax_params symbol##_params;                                                      \
    MG_DECLARE_UNARY(symbol, type, void);                                                          \
    MG_INLINE void symbol##_body(const symbol##_params *p, const type *input, void *output)        \
    {                                                                                              \
        for (int32_t outer = 0; outer < p->outer_size; outer++) {                                  \
            for (int32_t inner = 0; inner < p->inner_size; inner++) {                              \
                const type *values = &input[outer * p->axis_size * p->inner_size + inner];         \
                type best = values[0];                                                             \
                int32_t position = 0;                                                              \
                for (int32_t i = 1; i < p->axis_size; i++) {                                       \
                    const type value = values[i * p->inner_size];                                  \
                    if ((p->is_minimum != 0) ? (value < best) : (value > best)) {                  \
                        best = value;                                                              \
                        position = i;                                                              \
                    }                                                                              \
                }                                                                                  \
                mg_argmax_store(p, output, outer * p->inner_size + inner, position);               \
            }                                                                                      \
        }                                                                                          \
    }

MG_ARGMAX(mg_argmax_s8, int8_t)
MG_ARGMAX(mg_argmax_s32, int32_t)
MG_ARGMAX(mg_argmax_f32, float)

#ifdef MG_ARGMAX_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_argmax_s8, int8_t, void)
MG_DEFINE_UNARY(mg_argmax_s32, int32_t, void)
MG_DEFINE_UNARY(mg_argmax_f32, float, void)
#endif

#endif
