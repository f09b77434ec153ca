/* SPDX-License-Identifier: Apache-2.0 */
/* Quotients and remainders of plain integers, with broadcasting. */
#ifndef MICROGEN_INTEGER_DIVISION_H
#define MICROGEN_INTEGER_DIVISION_H

#include "microgen/arithmetic/floor_division.h"
#include "microgen/elementwise/broadcast.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef MG_INTEGER_DIVISION_IMPLEMENTATION /* with the out-of-line forms */
#define MG_INTEGER_DIVISION_EACH MG_FLOOR_DIVISION_DEFINED
#else
#define MG_INTEGER_DIVISION_EACH MG_FLOOR_DIVISION
#endif

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

MG_INTEGER_DIVISION_EACH(mg_floor_divide_s32, int32_t, mg_s32_floor_divide)

/* The remainder, which is 0 or has the sign of rhs; rhs != 0. */
MG_INLINE int32_t mg_s32_floor_mod(int32_t lhs, int32_t rhs)
{
    const int32_t remainder = (rhs == -1) ? 0 : lhs % rhs;
    return (remainder != 0 && ((rhs < 0) != (remainder < 0))) ? remainder + rhs : remainder;
}

MG_INTEGER_DIVISION_EACH(mg_floor_mod_s32, int32_t, mg_s32_floor_mod)

/* Of two integers, the second not 0: the quotient rounded towards 0, its remainder, and the
 * remainder of the quotient rounded down, which is 0 or has the divisor's sign. The least number
 * divided by -1 is itself, because results are modulo 2^n. */
#define MG_SIGNED_DIVISION(suffix, type, bits)                                                     \
    MG_INLINE type mg_##suffix##_quotient(type lhs, type rhs)                                      \
    {                                                                                              \
        return (type)((rhs == -1) ? (type)(0U - (bits)lhs) : (type)(lhs / rhs));                   \
    }                                                                                              \
    MG_INLINE type mg_##suffix##_remainder(type lhs, type rhs)                                     \
    {                                                                                              \
        return (type)((rhs == -1) ? 0 : lhs % rhs);                                                \
    }                                                                                              \
    MG_INLINE type mg_##suffix##_modulo(type lhs, type rhs)                                        \
    {                                                                                              \
        const type remainder = mg_##suffix##_remainder(lhs, rhs);                                  \
        const int is_other = remainder != 0 && (rhs < 0) != (remainder < 0);                       \
        return (type)(is_other ? remainder + rhs : remainder);                                     \
    }

#define MG_UNSIGNED_DIVISION(suffix, type)                                                         \
    MG_INLINE type mg_##suffix##_quotient(type lhs, type rhs)                                      \
    {                                                                                              \
        return (type)(lhs / rhs);                                                                  \
    }                                                                                              \
    MG_INLINE type mg_##suffix##_remainder(type lhs, type rhs)                                     \
    {                                                                                              \
        return (type)(lhs % rhs);                                                                  \
    }

MG_SIGNED_DIVISION(i8, int8_t, uint8_t)
MG_SIGNED_DIVISION(i16, int16_t, uint16_t)
MG_SIGNED_DIVISION(s32, int32_t, uint32_t)
MG_SIGNED_DIVISION(s64, int64_t, uint64_t)
MG_UNSIGNED_DIVISION(u8, uint8_t)
MG_UNSIGNED_DIVISION(u16, uint16_t)
MG_UNSIGNED_DIVISION(u32, uint32_t)
MG_UNSIGNED_DIVISION(u64, uint64_t)

MG_INTEGER_DIVISION_EACH(mg_divide_i8, int8_t, mg_i8_quotient)
MG_INTEGER_DIVISION_EACH(mg_fmod_i8, int8_t, mg_i8_remainder)
MG_INTEGER_DIVISION_EACH(mg_floor_mod_i8, int8_t, mg_i8_modulo)
MG_INTEGER_DIVISION_EACH(mg_divide_i16, int16_t, mg_i16_quotient)
MG_INTEGER_DIVISION_EACH(mg_fmod_i16, int16_t, mg_i16_remainder)
MG_INTEGER_DIVISION_EACH(mg_floor_mod_i16, int16_t, mg_i16_modulo)
MG_INTEGER_DIVISION_EACH(mg_fmod_s32, int32_t, mg_s32_remainder)
MG_INTEGER_DIVISION_EACH(mg_divide_s64, int64_t, mg_s64_quotient)
MG_INTEGER_DIVISION_EACH(mg_fmod_s64, int64_t, mg_s64_remainder)
MG_INTEGER_DIVISION_EACH(mg_floor_mod_s64, int64_t, mg_s64_modulo)
MG_INTEGER_DIVISION_EACH(mg_divide_u8, uint8_t, mg_u8_quotient)
MG_INTEGER_DIVISION_EACH(mg_fmod_u8, uint8_t, mg_u8_remainder)
MG_INTEGER_DIVISION_EACH(mg_floor_mod_u8, uint8_t, mg_u8_remainder)
MG_INTEGER_DIVISION_EACH(mg_divide_u16, uint16_t, mg_u16_quotient)
MG_INTEGER_DIVISION_EACH(mg_fmod_u16, uint16_t, mg_u16_remainder)
MG_INTEGER_DIVISION_EACH(mg_floor_mod_u16, uint16_t, mg_u16_remainder)
MG_INTEGER_DIVISION_EACH(mg_divide_u32, uint32_t, mg_u32_quotient)
MG_INTEGER_DIVISION_EACH(mg_fmod_u32, uint32_t, mg_u32_remainder)
MG_INTEGER_DIVISION_EACH(mg_floor_mod_u32, uint32_t, mg_u32_remainder)
MG_INTEGER_DIVISION_EACH(mg_divide_u64, uint64_t, mg_u64_quotient)
MG_INTEGER_DIVISION_EACH(mg_fmod_u64, uint64_t, mg_u64_remainder)
MG_INTEGER_DIVISION_EACH(mg_floor_mod_u64, uint64_t, mg_u64_remainder)

#ifdef MG_INTEGER_DIVISION_IMPLEMENTATION
MG_OUT_OF_LINE_STATUS(mg_divide_s32, (p, lhs, rhs, output), const mg_divide_s32_params *p,
                      const int32_t *lhs, const int32_t *rhs, int32_t *output)
#endif

#endif
