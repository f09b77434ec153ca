/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise logic of bool tensors (0 or 1 each), with broadcasting of two. */
#ifndef MICROGEN_LOGICAL_H
#define MICROGEN_LOGICAL_H

#include "microgen/elementwise/broadcast.h"

#ifdef MG_LOGICAL_IMPLEMENTATION /* with the out-of-line forms */
#define MG_LOGICAL_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_LOGICAL_EACH MG_ELEMENTWISE
#endif

MG_LOGICAL_EACH(mg_logical_and_bool, mg_broadcast_params, uint8_t, uint8_t, (lhs & rhs))
MG_LOGICAL_EACH(mg_logical_or_bool, mg_broadcast_params, uint8_t, uint8_t, (lhs | rhs))

typedef struct {
    int32_t size; /* elements */
} mg_logical_not_bool_params;

/* Computes output[i] = !input[i]; both are 0 or 1. Output may be the same buffer as the input;
 * otherwise they must not overlap. */
MG_DECLARE_UNARY(mg_logical_not_bool, uint8_t, uint8_t);

MG_INLINE void mg_logical_not_bool_body(const mg_logical_not_bool_params *p, const uint8_t *input,
                                        uint8_t *output)
{
    for (int32_t i = 0; i < p->size; i++) {
        output[i] = (uint8_t)(input[i] == 0U);
    }
}

#ifdef MG_LOGICAL_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_logical_not_bool, uint8_t, uint8_t)
#endif

#endif
