/* SPDX-License-Identifier: Apache-2.0 */
/* Quotients of plain int32 numbers, rounded down, with broadcasting. */
#ifndef MICROGEN_FLOOR_DIVIDE_S32_H
#define MICROGEN_FLOOR_DIVIDE_S32_H

#include "microgen/arithmetic/floor_division.h"

/* The greatest integer that is not above lhs / rhs; rhs != 0. INT32_MIN / -1, which exceeds int32,
 * gives INT32_MAX. */
MG_INLINE int32_t mg_s32_floor_divide(int32_t lhs, int32_t rhs)
{
    if (rhs == -1) {
        return (lhs == INT32_MIN) ? INT32_MAX : -lhs;
    }
    const int32_t quotient = lhs / rhs;
    return (lhs % rhs != 0 && ((lhs < 0) != (rhs < 0))) ? quotient - 1 : quotient;
}

MG_FLOOR_DIVISION(mg_floor_divide_s32, int32_t, mg_s32_floor_divide)

#ifdef MG_FLOOR_DIVIDE_S32_IMPLEMENTATION /* the out-of-line form */
MG_FLOOR_DIVISION_SHARED(mg_floor_divide_s32, int32_t)
#endif

#endif
