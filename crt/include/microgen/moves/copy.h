/* SPDX-License-Identifier: Apache-2.0 */
/* Copy of a tensor of any type. */
#ifndef MICROGEN_COPY_H
#define MICROGEN_COPY_H

#include <stddef.h>
#include <string.h>

#include "microgen/inline.h"

typedef struct {
    int32_t size; /* bytes */
} mg_copy_params;

/* Copies input [size] to output [size]. They must not overlap. */
MG_DECLARE_UNARY(mg_copy, void, void);

MG_INLINE void mg_copy_body(const mg_copy_params *p, const void *input, void *output)
{
    (void)memcpy(output, input, (size_t)p->size);
}

#ifdef MG_COPY_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_copy, void, void)
#endif

#endif
