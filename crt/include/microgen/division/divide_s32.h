/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise division of plain int32 numbers with broadcasting. */
#ifndef MICROGEN_DIVIDE_S32_H
#define MICROGEN_DIVIDE_S32_H

#include "microgen/elementwise/broadcast.h"
#include "tvm/runtime/crt/error_codes.h"

typedef struct {
    MG_BROADCAST_SHAPES
    int32_t activation_min; /* any */
    int32_t activation_max; /* activation_min or more */
    int32_t divisors;       /* elements of rhs */
} mg_divide_s32_params;

/* Divides lhs by rhs into output [shape[0]][shape[1]][shape[2]][shape[3]] and returns 0. Quotients
 * are truncated, then clamped. If a divisor is zero, returns kTvmErrorFunctionCallInvalidArg and
 * leaves output unchanged.
 *
 * Output may be the same buffer as an operand that has the output's shape; otherwise it must not
 * overlap an operand. */
MG_EXTERN int32_t mg_divide_s32(const mg_divide_s32_params *p, const int32_t *lhs,
                                const int32_t *rhs, int32_t *output);

/* lhs / rhs, truncated. INT32_MIN / -1, which exceeds int32, gives INT32_MAX. */
MG_INLINE int32_t mg_divide_s32_truncated(int32_t lhs, int32_t rhs)
{
    if ((rhs == -1) && (lhs == INT32_MIN)) {
        return INT32_MAX;
    }
    return lhs / rhs;
}

MG_INLINE int32_t mg_divide_s32_element(const mg_divide_s32_params *p, int32_t lhs, int32_t rhs)
{
    const int32_t quotient = mg_divide_s32_truncated(lhs, rhs);
    if (quotient < p->activation_min) {
        return p->activation_min;
    }
    return (quotient > p->activation_max) ? p->activation_max : quotient;
}

MG_INLINE int32_t mg_divide_s32_body(const mg_divide_s32_params *p, const int32_t *lhs,
                                     const int32_t *rhs, int32_t *output)
{
    for (int32_t i = 0; i < p->divisors; i++) {
        if (rhs[i] == 0) {
            return (int32_t)kTvmErrorFunctionCallInvalidArg;
        }
    }
    MG_BROADCAST(mg_divide_s32_element, p, lhs, rhs, output);
    return 0;
}

#ifdef MG_DIVIDE_S32_IMPLEMENTATION /* the out-of-line form */
int32_t mg_divide_s32(const mg_divide_s32_params *p, const int32_t *lhs, const int32_t *rhs,
                      int32_t *output)
{
    return mg_divide_s32_body(p, lhs, rhs, output);
}
#endif

#endif
