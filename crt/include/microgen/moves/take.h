/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a tensor of any type along an axis, selected by indices that are known to be valid. */
#ifndef MICROGEN_TAKE_H
#define MICROGEN_TAKE_H

#include "microgen/element.h"

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

MG_INLINE void mg_take_body(const mg_take_params *p, const void *input, const int32_t *indices,
                            void *output)
{
    const uint8_t *from = (const uint8_t *)input;
    uint8_t *to = (uint8_t *)output;

    for (int32_t batch = 0; batch < p->batches; batch++) {
        for (int32_t n = 0; n < p->outer_size; n++) {
            for (int32_t i = 0; i < p->count; i++) {
                const int32_t index = indices[batch * p->count + i];
                mg_move_bytes(to, from + index * p->inner_bytes, p->inner_bytes, p->element_bytes);
                to += p->inner_bytes;
            }
            from += p->axis_size * p->inner_bytes;
        }
    }
}

#ifdef MG_TAKE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_take, (p, input, indices, output), const mg_take_params *p, const void *input,
               const int32_t *indices, void *output)
#endif

#endif
