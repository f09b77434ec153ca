/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a tensor of any type, selected by computed indices of its first axes. */
#ifndef MICROGEN_GATHER_ND_H
#define MICROGEN_GATHER_ND_H

#include "microgen/element.h"
#include "tvm/runtime/crt/error_codes.h"

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

#ifdef MG_GATHER_ND_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE_STATUS(mg_gather_nd, (p, input, indices, output), const mg_gather_nd_params *p,
                      const void *input, const int32_t *indices, void *output)
#endif

#endif
