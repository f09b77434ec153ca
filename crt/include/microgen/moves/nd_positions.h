/* SPDX-License-Identifier: Apache-2.0 */
/* Tuples of indices as positions in a tensor whose elements are in one row. */
#ifndef MICROGEN_ND_POSITIONS_H
#define MICROGEN_ND_POSITIONS_H

#include "microgen/moves/from_front.h"
#include "tvm/runtime/crt/error_codes.h"

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

#ifdef MG_ND_POSITIONS_IMPLEMENTATION /* the out-of-line form */
int32_t mg_nd_positions(const mg_nd_positions_params *p, const void *indices, int32_t *output)
{
    return mg_nd_positions_body(p, indices, output);
}
#endif

#endif
