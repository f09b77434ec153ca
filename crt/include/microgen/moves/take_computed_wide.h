/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a tensor of any type along an axis, selected by computed int64 indices. Each index is
 * checked. */
#ifndef MICROGEN_TAKE_COMPUTED_WIDE_H
#define MICROGEN_TAKE_COMPUTED_WIDE_H

#include "microgen/element.h"
#include "microgen/moves/take_computed.h"

typedef mg_take_params mg_take_computed_wide_params;

/* Does the same as mg_take_computed with indices of int64. */
MG_EXTERN int32_t mg_take_computed_wide(const mg_take_computed_wide_params *p, const void *input,
                                        const int64_t *indices, void *output);

MG_INLINE int32_t mg_take_computed_wide_body(const mg_take_computed_wide_params *p,
                                             const void *input, const int64_t *indices,
                                             void *output)
{
    const uint8_t *from = (const uint8_t *)input;
    uint8_t *to = (uint8_t *)output;

    for (int32_t i = 0; i < p->batches * p->count; i++) {
        if (indices[i] < 0 || indices[i] >= p->axis_size) {
            return MG_TAKE_OUTSIDE;
        }
    }
    for (int32_t batch = 0; batch < p->batches; batch++) {
        for (int32_t n = 0; n < p->outer_size; n++) {
            for (int32_t i = 0; i < p->count; i++) {
                const int32_t index = (int32_t)indices[batch * p->count + i];
                mg_move_bytes(to, from + index * p->inner_bytes, p->inner_bytes, p->element_bytes);
                to += p->inner_bytes;
            }
            from += p->axis_size * p->inner_bytes;
        }
    }
    return 0;
}

#ifdef MG_TAKE_COMPUTED_WIDE_IMPLEMENTATION /* the out-of-line form */
int32_t mg_take_computed_wide(const mg_take_computed_wide_params *p, const void *input,
                              const int64_t *indices, void *output)
{
    return mg_take_computed_wide_body(p, input, indices, output);
}
#endif

#endif
