/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces a part of a tensor of any type, at computed indices. */
#ifndef MICROGEN_DYNAMIC_UPDATE_SLICE_H
#define MICROGEN_DYNAMIC_UPDATE_SLICE_H

#include "microgen/element.h"

typedef struct {
    int32_t axes;          /* the last ones of the four that matter; the others have size 1 */
    int32_t shape[4];      /* of the data, without axes that the update covers at the end */
    int32_t update[4];     /* of the update, likewise; 1 to shape[k] */
    int32_t inner_bytes;   /* of all elements of the axes left out */
    int32_t element_bytes; /* 1, 2, 4 or 8 */
} mg_dynamic_update_slice_params;

/* Copies data [shape] to output [shape], with update [update] in place of the elements from index
 * [index[0]]...[index[axes - 1]] on. An index is moved to the nearest with which the update is
 * inside the data. Output may be the same buffer as the data; otherwise they must not overlap. It
 * must not overlap update and index. */
MG_EXTERN void mg_dynamic_update_slice(const mg_dynamic_update_slice_params *p, const void *data,
                                       const void *update, const int32_t *index, void *output);

/* The first place of the update along one of the four axes. */
MG_INLINE int32_t mg_dynamic_update_slice_first(const mg_dynamic_update_slice_params *p,
                                                const int32_t *index, int32_t axis)
{
    const int32_t room = p->shape[axis] - p->update[axis];
    const int32_t skipped = 4 - p->axes;

    if (axis < skipped || index[axis - skipped] < 0) {
        return 0;
    }
    return (index[axis - skipped] > room) ? room : index[axis - skipped];
}

/* Writes the rows of the update, which are its last axis, into output. */
MG_INLINE void mg_dynamic_update_slice_rows(const mg_dynamic_update_slice_params *p,
                                            const void *update, const int32_t first[4],
                                            void *output)
{
    const int32_t *shape = p->shape;
    const int32_t row = p->update[3] * p->inner_bytes;

    for (int32_t i = 0; i < p->update[0]; i++) {
        for (int32_t j = 0; j < p->update[1]; j++) {
            for (int32_t k = 0; k < p->update[2]; k++) {
                const int32_t outer =
                    ((first[0] + i) * shape[1] + first[1] + j) * shape[2] + first[2] + k;
                void *to = mg_element_of(output, outer * shape[3] + first[3], p->inner_bytes);
                mg_move_bytes(to, update, row, p->element_bytes);
                update = mg_element(update, 1, row);
            }
        }
    }
}

MG_INLINE void mg_dynamic_update_slice_body(const mg_dynamic_update_slice_params *p,
                                            const void *data, const void *update,
                                            const int32_t *index, void *output)
{
    const int32_t elements = p->shape[0] * p->shape[1] * p->shape[2] * p->shape[3];
    int32_t first[4];

    for (int32_t axis = 0; axis < 4; axis++) {
        first[axis] = mg_dynamic_update_slice_first(p, index, axis);
    }
    if (output != data) {
        mg_move_bytes(output, data, elements * p->inner_bytes, p->element_bytes);
    }
    mg_dynamic_update_slice_rows(p, update, first, output);
}

#ifdef MG_DYNAMIC_UPDATE_SLICE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_dynamic_update_slice, (p, data, update, index, output),
               const mg_dynamic_update_slice_params *p, const void *data, const void *update,
               const int32_t *index, void *output)
#endif

#endif
