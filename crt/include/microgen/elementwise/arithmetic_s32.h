/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise arithmetic of plain int32 numbers with broadcasting, modulo 2^32. */
#ifndef MICROGEN_ARITHMETIC_S32_H
#define MICROGEN_ARITHMETIC_S32_H

#include "microgen/elementwise/broadcast.h"

#ifdef MG_ARITHMETIC_S32_IMPLEMENTATION /* with the out-of-line forms */
#define MG_ARITHMETIC_S32_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_ARITHMETIC_S32_EACH MG_ELEMENTWISE
#endif

typedef struct {
    MG_BROADCAST_SHAPES
    int32_t activation_min; /* any */
    int32_t activation_max; /* activation_min or more */
} mg_arithmetic_s32_params;

/* x as a two's complement number, clamped. */
MG_INLINE int32_t mg_activated_s32(const mg_arithmetic_s32_params *p, uint32_t x)
{
    const int32_t value = (int32_t)x;
    if (value < p->activation_min) {
        return p->activation_min;
    }
    return (value > p->activation_max) ? p->activation_max : value;
}

/* x * x modulo 2^32. */
MG_INLINE uint32_t mg_square_u32(uint32_t x)
{
    return x * x;
}

/* Sums, differences and products, clamped. */
MG_ARITHMETIC_S32_EACH(mg_add_s32, mg_arithmetic_s32_params, int32_t, int32_t,
                       mg_activated_s32(p, (uint32_t)lhs + (uint32_t)rhs))
MG_ARITHMETIC_S32_EACH(mg_subtract_s32, mg_arithmetic_s32_params, int32_t, int32_t,
                       mg_activated_s32(p, (uint32_t)lhs - (uint32_t)rhs))
MG_ARITHMETIC_S32_EACH(mg_multiply_s32, mg_arithmetic_s32_params, int32_t, int32_t,
                       mg_activated_s32(p, (uint32_t)lhs *(uint32_t)rhs))

/* Squares of differences. */
MG_ARITHMETIC_S32_EACH(mg_squared_difference_s32, mg_broadcast_params, int32_t, int32_t,
                       mg_square_u32((uint32_t)lhs - (uint32_t)rhs))

#endif
