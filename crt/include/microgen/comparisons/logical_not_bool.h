/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise negation of a bool tensor. */
#ifndef MICROGEN_LOGICAL_NOT_BOOL_H
#define MICROGEN_LOGICAL_NOT_BOOL_H

#include "microgen/inline.h"

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

#ifdef MG_LOGICAL_NOT_BOOL_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_logical_not_bool, uint8_t, uint8_t)
#endif

#endif
