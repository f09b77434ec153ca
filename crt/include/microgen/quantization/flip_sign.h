/* SPDX-License-Identifier: Apache-2.0 */
/* Changes uint8 values to int8 values that are 128 less, and back. */
#ifndef MICROGEN_FLIP_SIGN_H
#define MICROGEN_FLIP_SIGN_H

#include <string.h>

#include "microgen/inline.h"

typedef struct {
    int32_t size; /* bytes */
} mg_flip_sign_params;

/* Inverts the highest bit of each byte of input [size] and stores the result in output [size]. With
 * zero points that are 128 apart, the values before and after mean the same numbers.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_DECLARE_UNARY(mg_flip_sign, void, void);

MG_INLINE void mg_flip_sign_body(const mg_flip_sign_params *p, const void *input, void *output)
{
    const uint8_t *from = (const uint8_t *)input;
    uint8_t *to = (uint8_t *)output;
    const int32_t whole = p->size - p->size % 4;

    for (int32_t i = 0; i < whole; i += 4) {
        uint32_t bytes = 0;
        (void)memcpy(&bytes, &from[i], 4);
        bytes ^= 0x80808080U;
        (void)memcpy(&to[i], &bytes, 4);
    }
    for (int32_t i = whole; i < p->size; i++) {
        to[i] = (uint8_t)(from[i] ^ 0x80U);
    }
}

#ifdef MG_FLIP_SIGN_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_flip_sign, void, void)
#endif

#endif
