/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise choice between two tensors, with broadcasting. */
#ifndef MICROGEN_WHERE_H
#define MICROGEN_WHERE_H

#include <string.h>

#include "microgen/elementwise/broadcast.h"

typedef struct {
    int32_t shape[4];            /* of the output */
    int32_t condition_stride[4]; /* elements between neighbouring indices; 0: broadcast */
    int32_t lhs_stride[4];       /* the same */
    int32_t rhs_stride[4];       /* the same */
    int32_t element_bytes;       /* of lhs, rhs and output: 1 to 8 */
} mg_where_params;

/* Computes each element of output [shape[0]][shape[1]][shape[2]][shape[3]]: lhs if condition is 1,
 * rhs if it is 0.
 *
 * Output may be the same buffer as lhs or rhs if that has the output's shape; otherwise it must not
 * overlap an operand. */
MG_EXTERN void mg_where(const mg_where_params *p, const uint8_t *condition, const void *lhs,
                        const void *rhs, void *output);

/* The address of element `index` of a tensor. */
MG_INLINE const uint8_t *mg_where_at(const void *tensor, int32_t index, int32_t element_bytes)
{
    return (const uint8_t *)tensor + index * element_bytes;
}

MG_INLINE void mg_where_body(const mg_where_params *p, const uint8_t *condition, const void *lhs,
                             const void *rhs, void *output)
{
    const int32_t bytes = p->element_bytes;
    uint8_t *to = (uint8_t *)output;

    for (int32_t n = 0; n < p->shape[0]; n++) {
        for (int32_t y = 0; y < p->shape[1]; y++) {
            for (int32_t x = 0; x < p->shape[2]; x++) {
                for (int32_t c = 0; c < p->shape[3]; c++) {
                    const uint8_t chosen =
                        condition[mg_broadcast_at(p->condition_stride, n, y, x, c)];
                    const int32_t left = mg_broadcast_at(p->lhs_stride, n, y, x, c);
                    const int32_t right = mg_broadcast_at(p->rhs_stride, n, y, x, c);
                    uint64_t element; /* an intermediate copy, because output may be lhs or rhs */

                    (void)memcpy(&element,
                                 (chosen != 0U) ? mg_where_at(lhs, left, bytes)
                                                : mg_where_at(rhs, right, bytes),
                                 (size_t)bytes);
                    (void)memcpy(to, &element, (size_t)bytes);
                    to += bytes;
                }
            }
        }
    }
}

#ifdef MG_WHERE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_where, (p, condition, lhs, rhs, output), const mg_where_params *p,
               const uint8_t *condition, const void *lhs, const void *rhs, void *output)
#endif

#endif
