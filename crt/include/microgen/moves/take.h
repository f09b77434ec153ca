/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a tensor of any type, selected by indices. */
#ifndef MICROGEN_TAKE_H
#define MICROGEN_TAKE_H

#include "microgen/element.h"
#include "tvm/runtime/crt/error_codes.h"

typedef struct {
    int32_t batches;    /* product of the sizes of the batch axes */
    int32_t outer_size; /* product of the sizes of the axes between them and `axis` */
    int32_t axis_size;
    int32_t inner_bytes;   /* of all elements after the axis */
    int32_t count;         /* indices of a batch */
    int32_t element_bytes; /* 1, 2, 4 or 8 */
} mg_take_params;

/* Copies the parts of input [batches][outer_size][axis_size][inner_bytes] at indices
 * [batches][count] to output [batches][outer_size][count][inner_bytes]. Each index must be from 0
 * to axis_size - 1. Output must not overlap the input. */
MG_EXTERN void mg_take(const mg_take_params *p, const void *input, const int32_t *indices,
                       void *output);

/* mg_take for indices of any type. */
#define MG_TAKE(p, input, indices, output)                                                         \
    do {                                                                                           \
        const uint8_t *from_ = (const uint8_t *)(input);                                           \
        uint8_t *to_ = (uint8_t *)(output);                                                        \
        for (int32_t batch_ = 0; batch_ < (p)->batches; batch_++) {                                \
            for (int32_t n_ = 0; n_ < (p)->outer_size; n_++) {                                     \
                for (int32_t i_ = 0; i_ < (p)->count; i_++) {                                      \
                    const int32_t index_ = (int32_t)(indices)[batch_ * (p)->count + i_];           \
                    mg_move_bytes(to_, from_ + index_ * (p)->inner_bytes, (p)->inner_bytes,        \
                                  (p)->element_bytes);                                             \
                    to_ += (p)->inner_bytes;                                                       \
                }                                                                                  \
                from_ += (p)->axis_size * (p)->inner_bytes;                                        \
            }                                                                                      \
        }                                                                                          \
    } while (0)

MG_INLINE void mg_take_body(const mg_take_params *p, const void *input, const int32_t *indices,
                            void *output)
{
    MG_TAKE(p, input, indices, output);
}

#define MG_TAKE_OUTSIDE 0x0803 /* kTvmErrorFunctionCallInvalidArg */

/* Declares the kernel `symbol` and defines its body: the same as mg_take with indices of `type`,
 * which returns 0. If an index is not from 0 to axis_size - 1, it returns MG_TAKE_OUTSIDE and
 * leaves the output unchanged. */
#define MG_TAKE_COMPUTED(symbol, type)                                                             \
    typedef mg_take_params symbol##_params;                                                        \
    MG_EXTERN int32_t symbol(const symbol##_params *p, const void *input, const type *indices,     \
                             void *output);                                                        \
    MG_INLINE int32_t symbol##_body(const symbol##_params *p, const void *input,                   \
                                    const type *indices, void *output)                             \
    {                                                                                              \
        for (int32_t i = 0; i < p->batches * p->count; i++) {                                      \
            if (indices[i] < 0 || indices[i] >= p->axis_size) {                                    \
                return MG_TAKE_OUTSIDE;                                                            \
            }                                                                                      \
        }                                                                                          \
        MG_TAKE(p, input, indices, output);                                                        \
        return 0;                                                                                  \
    }

MG_TAKE_COMPUTED(mg_take_computed, int32_t)
MG_TAKE_COMPUTED(mg_take_computed_wide, int64_t)

typedef struct {
    int32_t count;         /* of the parts */
    int32_t depth;         /* number of axes that have indices, 1 to 8 */
    int32_t shape[8];      /* their sizes; the others are not read */
    int32_t inner_bytes;   /* of all elements after these axes */
    int32_t element_bytes; /* 1, 2, 4 or 8 */
} mg_gather_nd_params;

/* Copies the parts of input [shape[0]]...[shape[depth - 1]][inner_bytes] at indices [count][depth]
 * to output [count][inner_bytes] and returns 0. If an index is not inside its axis, returns
 * kTvmErrorFunctionCallInvalidArg and leaves output unchanged. Output must not overlap an input. */
MG_EXTERN int32_t mg_gather_nd(const mg_gather_nd_params *p, const void *input,
                               const int32_t *indices, void *output);

/* The position of the part at `index` [depth], or -1 if it is outside. */
MG_INLINE int32_t mg_gather_nd_position(const mg_gather_nd_params *p, const int32_t *index)
{
    int32_t position = 0;

    for (int32_t axis = 0; axis < p->depth; axis++) {
        if (index[axis] < 0 || index[axis] >= p->shape[axis]) {
            return -1;
        }
        position = position * p->shape[axis] + index[axis];
    }
    return position;
}

MG_INLINE int32_t mg_gather_nd_body(const mg_gather_nd_params *p, const void *input,
                                    const int32_t *indices, void *output)
{
    for (int32_t n = 0; n < p->count; n++) {
        if (mg_gather_nd_position(p, &indices[n * p->depth]) < 0) {
            return (int32_t)kTvmErrorFunctionCallInvalidArg;
        }
    }
    for (int32_t n = 0; n < p->count; n++) {
        const int32_t position = mg_gather_nd_position(p, &indices[n * p->depth]);
        mg_move_bytes(mg_element_of(output, n, p->inner_bytes),
                      mg_element(input, position, p->inner_bytes), p->inner_bytes,
                      p->element_bytes);
    }
    return 0;
}

#ifdef MG_TAKE_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_take, (p, input, indices, output), const mg_take_params *p, const void *input,
               const int32_t *indices, void *output)
MG_OUT_OF_LINE_STATUS(mg_take_computed, (p, input, indices, output),
                      const mg_take_computed_params *p, const void *input, const int32_t *indices,
                      void *output)
MG_OUT_OF_LINE_STATUS(mg_take_computed_wide, (p, input, indices, output),
                      const mg_take_computed_wide_params *p, const void *input,
                      const int64_t *indices, void *output)
MG_OUT_OF_LINE_STATUS(mg_gather_nd, (p, input, indices, output), const mg_gather_nd_params *p,
                      const void *input, const int32_t *indices, void *output)
#endif

#endif
