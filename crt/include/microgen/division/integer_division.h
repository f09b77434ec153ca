/* SPDX-License-Identifier: Apache-2.0 */
/* Quotients and remainders of plain integers, with broadcasting. int32 has its own headers for the
 * quotient and for the remainder of the quotient rounded down. */
#ifndef MICROGEN_INTEGER_DIVISION_H
#define MICROGEN_INTEGER_DIVISION_H

#include "microgen/arithmetic/floor_division.h"

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

MG_FLOOR_DIVISION(mg_divide_i8, int8_t, mg_i8_quotient)
MG_FLOOR_DIVISION(mg_fmod_i8, int8_t, mg_i8_remainder)
MG_FLOOR_DIVISION(mg_floor_mod_i8, int8_t, mg_i8_modulo)
MG_FLOOR_DIVISION(mg_divide_i16, int16_t, mg_i16_quotient)
MG_FLOOR_DIVISION(mg_fmod_i16, int16_t, mg_i16_remainder)
MG_FLOOR_DIVISION(mg_floor_mod_i16, int16_t, mg_i16_modulo)
MG_FLOOR_DIVISION(mg_fmod_s32, int32_t, mg_s32_remainder)
MG_FLOOR_DIVISION(mg_divide_s64, int64_t, mg_s64_quotient)
MG_FLOOR_DIVISION(mg_fmod_s64, int64_t, mg_s64_remainder)
MG_FLOOR_DIVISION(mg_floor_mod_s64, int64_t, mg_s64_modulo)
MG_FLOOR_DIVISION(mg_divide_u8, uint8_t, mg_u8_quotient)
MG_FLOOR_DIVISION(mg_fmod_u8, uint8_t, mg_u8_remainder)
MG_FLOOR_DIVISION(mg_floor_mod_u8, uint8_t, mg_u8_remainder)
MG_FLOOR_DIVISION(mg_divide_u16, uint16_t, mg_u16_quotient)
MG_FLOOR_DIVISION(mg_fmod_u16, uint16_t, mg_u16_remainder)
MG_FLOOR_DIVISION(mg_floor_mod_u16, uint16_t, mg_u16_remainder)
MG_FLOOR_DIVISION(mg_divide_u32, uint32_t, mg_u32_quotient)
MG_FLOOR_DIVISION(mg_fmod_u32, uint32_t, mg_u32_remainder)
MG_FLOOR_DIVISION(mg_floor_mod_u32, uint32_t, mg_u32_remainder)
MG_FLOOR_DIVISION(mg_divide_u64, uint64_t, mg_u64_quotient)
MG_FLOOR_DIVISION(mg_fmod_u64, uint64_t, mg_u64_remainder)
MG_FLOOR_DIVISION(mg_floor_mod_u64, uint64_t, mg_u64_remainder)

#ifdef MG_INTEGER_DIVISION_IMPLEMENTATION /* the out-of-line forms */
MG_FLOOR_DIVISION_SHARED(mg_divide_i8, int8_t)
MG_FLOOR_DIVISION_SHARED(mg_fmod_i8, int8_t)
MG_FLOOR_DIVISION_SHARED(mg_floor_mod_i8, int8_t)
MG_FLOOR_DIVISION_SHARED(mg_divide_i16, int16_t)
MG_FLOOR_DIVISION_SHARED(mg_fmod_i16, int16_t)
MG_FLOOR_DIVISION_SHARED(mg_floor_mod_i16, int16_t)
MG_FLOOR_DIVISION_SHARED(mg_fmod_s32, int32_t)
MG_FLOOR_DIVISION_SHARED(mg_divide_s64, int64_t)
MG_FLOOR_DIVISION_SHARED(mg_fmod_s64, int64_t)
MG_FLOOR_DIVISION_SHARED(mg_floor_mod_s64, int64_t)
MG_FLOOR_DIVISION_SHARED(mg_divide_u8, uint8_t)
MG_FLOOR_DIVISION_SHARED(mg_fmod_u8, uint8_t)
MG_FLOOR_DIVISION_SHARED(mg_floor_mod_u8, uint8_t)
MG_FLOOR_DIVISION_SHARED(mg_divide_u16, uint16_t)
MG_FLOOR_DIVISION_SHARED(mg_fmod_u16, uint16_t)
MG_FLOOR_DIVISION_SHARED(mg_floor_mod_u16, uint16_t)
MG_FLOOR_DIVISION_SHARED(mg_divide_u32, uint32_t)
MG_FLOOR_DIVISION_SHARED(mg_fmod_u32, uint32_t)
MG_FLOOR_DIVISION_SHARED(mg_floor_mod_u32, uint32_t)
MG_FLOOR_DIVISION_SHARED(mg_divide_u64, uint64_t)
MG_FLOOR_DIVISION_SHARED(mg_fmod_u64, uint64_t)
MG_FLOOR_DIVISION_SHARED(mg_floor_mod_u64, uint64_t)
#endif

#endif
