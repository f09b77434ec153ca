/* SPDX-License-Identifier: Apache-2.0 */
/* Indices, which may count from the end of an axis, as positions in a tensor whose elements are in
 * one row. */
#ifndef MICROGEN_POSITIONS_H
#define MICROGEN_POSITIONS_H

#include <string.h>

#include "microgen/element.h"
#include "tvm/runtime/crt/error_codes.h"

/* indices[at], counted from the front of an axis of `size` elements; -1 if it is not from -size to
 * size - 1. */
MG_INLINE int32_t mg_from_front(const void *indices, int32_t at, int32_t index_bytes, int32_t size)
{
    int32_t index;

    if (index_bytes == 8) {
        int64_t wide;
        (void)memcpy(&wide, MG_ALIGNED(mg_element(indices, at, 8), 4), 8);
        index = (wide < -(int64_t)size || wide >= size) ? size : (int32_t)wide;
    } else {
        (void)memcpy(&index, MG_ALIGNED(mg_element(indices, at, 4), 4), 4);
    }
    if (index >= size || index < -size) {
        return -1;
    }
    return (index < 0) ? index + size : index;
}

typedef struct {
    int32_t shape[6];    /* of the indices, each at least 1 */
    int32_t stride[6];   /* elements of the tensor between neighbouring indices; 0 on the axis */
    int32_t axis_size;   /* of the tensor */
    int32_t axis_stride; /* elements of the tensor between neighbouring places on the axis */
    int32_t index_bytes; /* 4 or 8 */
} mg_axis_positions_params;

/* Computes output[i]...[n] = i * stride[0] + ... + n * stride[5] + index * axis_stride from each
 * index of indices [shape[0]]...[shape[5]] and returns 0. Returns kTvmErrorFunctionCallInvalidArg
 * if an index is not from -axis_size to axis_size - 1; the output then has no meaning. Output may
 * begin where the indices do; otherwise they must not overlap. */
MG_EXTERN int32_t mg_axis_positions(const mg_axis_positions_params *p, const void *indices,
                                    int32_t *output);

/* Computes the row of positions that begins at element `first` of both tensors; `start` is what
 * the other axes add. */
MG_INLINE int32_t mg_axis_positions_row(const mg_axis_positions_params *p, const void *indices,
                                        int32_t first, int32_t start, int32_t *output)
{
    for (int32_t n = 0; n < p->shape[5]; n++) {
        const int32_t index = mg_from_front(indices, first + n, p->index_bytes, p->axis_size);
        const int32_t position = start + n * p->stride[5] + index * p->axis_stride;
        if (index < 0) {
            return (int32_t)kTvmErrorFunctionCallInvalidArg;
        }
        (void)memcpy(&output[first + n], &position, 4); /* it may be the memory of indices */
    }
    return 0;
}

MG_INLINE int32_t mg_axis_positions_body(const mg_axis_positions_params *p, const void *indices,
                                         int32_t *output)
{
    const int32_t *shape = p->shape;
    const int32_t *stride = p->stride;
    int32_t first = 0;
    int32_t status = 0;

    for (int32_t i = 0; i < shape[0]; i++) {
        for (int32_t j = 0; j < shape[1]; j++) {
            for (int32_t k = 0; k < shape[2]; k++) {
                for (int32_t l = 0; l < shape[3]; l++) {
                    const int32_t outer =
                        i * stride[0] + j * stride[1] + k * stride[2] + l * stride[3];
                    for (int32_t m = 0; m < shape[4] && status == 0; m++) {
                        status =
                            mg_axis_positions_row(p, indices, first, outer + m * stride[4], output);
                        first += shape[5];
                    }
                }
            }
        }
    }
    return status;
}

typedef struct {
    int32_t count;       /* of the positions */
    int32_t depth;       /* number of indices for each, 1 to 8 */
    int32_t shape[8];    /* the sizes of their axes; the others are not read */
    int32_t index_bytes; /* 4 or 8 */
} mg_nd_positions_params;

/* Computes output [count] from indices [count][depth] and returns 0. Returns
 * kTvmErrorFunctionCallInvalidArg if an index is not from -shape[axis] to shape[axis] - 1; the
 * output then has no meaning. Output may begin where the indices do; otherwise they must not
 * overlap. */
MG_EXTERN int32_t mg_nd_positions(const mg_nd_positions_params *p, const void *indices,
                                  int32_t *output);

MG_INLINE int32_t mg_nd_positions_body(const mg_nd_positions_params *p, const void *indices,
                                       int32_t *output)
{
    for (int32_t n = 0; n < p->count; n++) {
        int32_t position = 0;
        for (int32_t axis = 0; axis < p->depth; axis++) {
            const int32_t size = p->shape[axis];
            const int32_t index = mg_from_front(indices, n * p->depth + axis, p->index_bytes, size);
            if (index < 0) {
                return (int32_t)kTvmErrorFunctionCallInvalidArg;
            }
            position = position * size + index;
        }
        (void)memcpy(&output[n], &position, 4); /* because it may be the memory of indices */
    }
    return 0;
}

#ifdef MG_POSITIONS_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE_STATUS(mg_axis_positions, (p, indices, output), const mg_axis_positions_params *p,
                      const void *indices, int32_t *output)
MG_OUT_OF_LINE_STATUS(mg_nd_positions, (p, indices, output), const mg_nd_positions_params *p,
                      const void *indices, int32_t *output)
#endif

#endif
