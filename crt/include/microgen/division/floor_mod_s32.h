/* SPDX-License-Identifier: Apache-2.0 */
/* Remainders of quotients of plain int32 numbers that are rounded down, with broadcasting. */
#ifndef MICROGEN_FLOOR_MOD_S32_H
#define MICROGEN_FLOOR_MOD_S32_H

#include "microgen/arithmetic/floor_division.h"

/* The remainder, which is 0 or has the sign of rhs; rhs != 0. */
MG_INLINE int32_t mg_s32_floor_mod(int32_t lhs, int32_t rhs)
{
    const int32_t remainder = (rhs == -1) ? 0 : lhs % rhs;
    return (remainder != 0 && ((rhs < 0) != (remainder < 0))) ? remainder + rhs : remainder;
}

MG_FLOOR_DIVISION(mg_floor_mod_s32, int32_t, mg_s32_floor_mod)

#ifdef MG_FLOOR_MOD_S32_IMPLEMENTATION /* the out-of-line form */
MG_FLOOR_DIVISION_SHARED(mg_floor_mod_s32, int32_t)
#endif

#endif
