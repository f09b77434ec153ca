/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a tensor of any type along an axis, selected by computed indices. Each index is
 * checked. */
#ifndef MICROGEN_TAKE_COMPUTED_H
#define MICROGEN_TAKE_COMPUTED_H

#include "microgen/moves/take.h"

typedef mg_take_params mg_take_computed_params;

#define MG_TAKE_OUTSIDE 0x0803 /* kTvmErrorFunctionCallInvalidArg */

/* Does the same as mg_take and returns 0. If an index is not from 0 to axis_size - 1, returns
 * MG_TAKE_OUTSIDE and leaves the output unchanged. */
MG_EXTERN int32_t mg_take_computed(const mg_take_computed_params *p, const void *input,
                                   const int32_t *indices, void *output);

MG_INLINE int32_t mg_take_computed_body(const mg_take_computed_params *p, const void *input,
                                        const int32_t *indices, void *output)
{
    for (int32_t i = 0; i < p->batches * p->count; i++) {
        if (indices[i] < 0 || indices[i] >= p->axis_size) {
            return MG_TAKE_OUTSIDE;
        }
    }
    mg_take_body(p, input, indices, output);
    return 0;
}

#ifdef MG_TAKE_COMPUTED_IMPLEMENTATION /* the out-of-line form */
int32_t mg_take_computed(const mg_take_computed_params *p, const void *input,
                         const int32_t *indices, void *output)
{
    return mg_take_computed_body(p, input, indices, output);
}
#endif

#endif
