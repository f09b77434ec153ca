/* SPDX-License-Identifier: Apache-2.0 */
/* Positions and values of the greatest or least values along one axis. */
#ifndef MICROGEN_EXTREMES_H
#define MICROGEN_EXTREMES_H

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

/* Positions of the greatest or least values along one axis, the best first. */
typedef struct {
    int32_t outer_size;   /* product of the sizes of the axes before */
    int32_t axis_size;    /* number of values compared */
    int32_t inner_size;   /* product of the sizes of the axes after */
    int32_t k;            /* number of positions, 1 to axis_size */
    int32_t is_largest;   /* 1: the greatest values; 0: the least */
    int32_t output_bytes; /* 4: positions are int32; 8: int64 */
} mg_topk_params;

/* The position stored at `index` of the output. */
MG_INLINE int32_t mg_topk_load(const mg_topk_params *p, const void *output, int32_t index)
{
    int64_t wide;
    int32_t position;

    if (p->output_bytes == 8) {
        (void)memcpy(&wide, (const uint8_t *)output + index * 8, 8);
        return (int32_t)wide;
    }
    (void)memcpy(&position, (const uint8_t *)output + index * 4, 4);
    return position;
}

/* Stores a position at `index` of the output. */
MG_INLINE void mg_topk_store(const mg_topk_params *p, void *output, int32_t index, int32_t position)
{
    const int64_t wide = position;

    if (p->output_bytes == 8) {
        (void)memcpy((uint8_t *)output + index * 8, &wide, 8);
    } else {
        (void)memcpy((uint8_t *)output + index * 4, &position, 4);
    }
}

#define MG_TOPK_ALWAYS(number) 1
#define MG_TOPK_NUMBER(number) ((number) == (number))

/* Declares the kernel `symbol` for values of `type`, and defines its body as `symbol`_body.
 *
 * For each row, which is the middle axis of input [outer_size][axis_size][inner_size], the kernel
 * writes the positions of the p->k best values into output [outer_size][k][inner_size]. Of equal
 * values the first one is the best; a value that is not `is_number` is the worst. The output has
 * the best of the values so far, in order, into which each next one is inserted. Output must be
 * aligned to its elements and must not overlap the input. */
#define MG_TOPK(symbol, type, is_number)                                                           \
    typedef mg_topk_params symbol##_params;                                                        \
    MG_DECLARE_UNARY(symbol, type, void);                                                          \
    MG_INLINE int symbol##_is_better(const symbol##_params *p, type a, type b)                     \
    {                                                                                              \
        return ((p->is_largest != 0) ? (a > b) : (a < b)) || (is_number(a) && !is_number(b));      \
    }                                                                                              \
    MG_INLINE void symbol##_row(const symbol##_params *p, const type *values, void *output,        \
                                int32_t first)                                                     \
    {                                                                                              \
        const int32_t step = p->inner_size;                                                        \
        for (int32_t i = 0; i < p->axis_size; i++) {                                               \
            int32_t place = (i < p->k) ? i : p->k; /* after the last one that is better */         \
            while (place > 0) {                                                                    \
                const int32_t other = mg_topk_load(p, output, first + (place - 1) * step);         \
                if (!symbol##_is_better(p, values[i * step], values[other * step])) {              \
                    break;                                                                         \
                }                                                                                  \
                if (place < p->k) {                                                                \
                    mg_topk_store(p, output, first + place * step, other);                         \
                }                                                                                  \
                place--;                                                                           \
            }                                                                                      \
            if (place < p->k) {                                                                    \
                mg_topk_store(p, output, first + place * step, i);                                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    MG_INLINE void symbol##_body(const symbol##_params *p, const type *input, void *output)        \
    {                                                                                              \
        for (int32_t outer = 0; outer < p->outer_size; outer++) {                                  \
            for (int32_t inner = 0; inner < p->inner_size; inner++) {                              \
                symbol##_row(p, &input[outer * p->axis_size * p->inner_size + inner], output,      \
                             outer * p->k * p->inner_size + inner);                                \
            }                                                                                      \
        }                                                                                          \
    }

MG_TOPK(mg_topk_s8, int8_t, MG_TOPK_ALWAYS)
MG_TOPK(mg_topk_u8, uint8_t, MG_TOPK_ALWAYS)
MG_TOPK(mg_topk_s16, int16_t, MG_TOPK_ALWAYS)
MG_TOPK(mg_topk_u16, uint16_t, MG_TOPK_ALWAYS)
MG_TOPK(mg_topk_s32, int32_t, MG_TOPK_ALWAYS)
MG_TOPK(mg_topk_u32, uint32_t, MG_TOPK_ALWAYS)
MG_TOPK(mg_topk_s64, int64_t, MG_TOPK_ALWAYS)
MG_TOPK(mg_topk_u64, uint64_t, MG_TOPK_ALWAYS)
MG_TOPK(mg_topk_f32, float, MG_TOPK_NUMBER)

#ifdef MG_EXTREMES_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_argmax_s8, int8_t, void)
MG_DEFINE_UNARY(mg_argmax_s32, int32_t, void)
MG_DEFINE_UNARY(mg_argmax_f32, float, void)
MG_DEFINE_UNARY(mg_topk_s8, int8_t, void)
MG_DEFINE_UNARY(mg_topk_u8, uint8_t, void)
MG_DEFINE_UNARY(mg_topk_s16, int16_t, void)
MG_DEFINE_UNARY(mg_topk_u16, uint16_t, void)
MG_DEFINE_UNARY(mg_topk_s32, int32_t, void)
MG_DEFINE_UNARY(mg_topk_u32, uint32_t, void)
MG_DEFINE_UNARY(mg_topk_s64, int64_t, void)
MG_DEFINE_UNARY(mg_topk_u64, uint64_t, void)
MG_DEFINE_UNARY(mg_topk_f32, float, void)
#endif

#endif
