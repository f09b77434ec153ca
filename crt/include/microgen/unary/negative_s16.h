/* SPDX-License-Identifier: Apache-2.0 */
/* Negation of int16 values. */
#ifndef MICROGEN_NEGATIVE_S16_H
#define MICROGEN_NEGATIVE_S16_H

#include "microgen/unary/unary.h"

/* -x; the least value remains unchanged. */
MG_INLINE int16_t mg_negative_s16_element(int16_t x)
{
    return (int16_t)((x == INT16_MIN) ? INT16_MIN : -x);
}

MG_UNARY_KERNEL(mg_negative_s16, int16_t, mg_negative_s16_element)

#ifdef MG_NEGATIVE_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_negative_s16, int16_t, int16_t)
#endif

#endif
