/* SPDX-License-Identifier: Apache-2.0 */
/* Indices along one axis as positions in a tensor whose elements are in one row. */
#ifndef MICROGEN_AXIS_POSITIONS_H
#define MICROGEN_AXIS_POSITIONS_H

#include "microgen/moves/from_front.h"
#include "tvm/runtime/crt/error_codes.h"

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

#ifdef MG_AXIS_POSITIONS_IMPLEMENTATION /* the out-of-line form */
int32_t mg_axis_positions(const mg_axis_positions_params *p, const void *indices, int32_t *output)
{
    return mg_axis_positions_body(p, indices, output);
}
#endif

#endif
