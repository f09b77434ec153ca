/* SPDX-License-Identifier: Apache-2.0 */
/* Remainders of quotients of float32 numbers that are rounded down, with broadcasting. */
#ifndef MICROGEN_FLOOR_MOD_F32_H
#define MICROGEN_FLOOR_MOD_F32_H

#include "microgen/arithmetic/floor_division.h"
#include "microgen/elementwise/broadcast.h"

#ifdef MG_FLOOR_MOD_F32_IMPLEMENTATION /* with the out-of-line forms */
#define MG_FLOOR_MOD_F32_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_FLOOR_MOD_F32_EACH MG_ELEMENTWISE
#endif

/* The remainder of the quotient rounded down, which has the sign of rhs. NaN for rhs = 0. */
MG_INLINE float mg_f32_floor_mod(float lhs, float rhs)
{
    const float remainder = mg_f32_remainder(lhs, rhs);
    if (remainder != 0.0F && ((rhs < 0.0F) != (remainder < 0.0F))) {
        return remainder + rhs;
    }
    return remainder;
}

MG_FLOOR_MOD_F32_EACH(mg_floor_mod_f32, mg_broadcast_params, float, float,
                      mg_f32_floor_mod(lhs, rhs))

#endif
