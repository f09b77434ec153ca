/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise logic and shifts of the bits of integers, with broadcasting. */
#ifndef MICROGEN_BITWISE_H
#define MICROGEN_BITWISE_H

#include <stdint.h>

#include "microgen/broadcast.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MG_BITWISE(suffix, type)                                                                   \
    MG_ELEMENTWISE(mg_bitwise_and_##suffix, mg_broadcast_params, type, type, (lhs & rhs))          \
    MG_ELEMENTWISE(mg_bitwise_or_##suffix, mg_broadcast_params, type, type, (lhs | rhs))           \
    MG_ELEMENTWISE(mg_bitwise_xor_##suffix, mg_broadcast_params, type, type, (lhs ^ rhs))

/* Operands of shifts, of which those of 8 and 16 bits would be signed. */
MG_INLINE uint32_t mg_unsigned_u8(uint8_t x)
{
    return x;
}

MG_INLINE uint32_t mg_unsigned_u16(uint16_t x)
{
    return x;
}

MG_INLINE uint32_t mg_unsigned_u32(uint32_t x)
{
    return x;
}

MG_INLINE uint64_t mg_unsigned_u64(uint64_t x)
{
    return x;
}

/* Shifts by rhs bits; by `bits` and more they give 0. */
#define MG_SHIFTS(suffix, type, bits)                                                              \
    MG_ELEMENTWISE(mg_shift_left_##suffix, mg_broadcast_params, type, type,                        \
                   (rhs < (bits)) ? (type)(mg_unsigned_##suffix(lhs) << rhs) : (type)0)            \
    MG_ELEMENTWISE(mg_shift_right_##suffix, mg_broadcast_params, type, type,                       \
                   (rhs < (bits)) ? (type)(mg_unsigned_##suffix(lhs) >> rhs) : (type)0)

MG_BITWISE(i8, int8_t)
MG_BITWISE(u8, uint8_t)
MG_BITWISE(i16, int16_t)
MG_BITWISE(u16, uint16_t)
MG_BITWISE(s32, int32_t)
MG_BITWISE(u32, uint32_t)
MG_BITWISE(s64, int64_t)
MG_BITWISE(u64, uint64_t)
MG_SHIFTS(u8, uint8_t, 8)
MG_SHIFTS(u16, uint16_t, 16)
MG_SHIFTS(u32, uint32_t, 32)
MG_SHIFTS(u64, uint64_t, 64)

#ifdef MG_BITWISE_IMPLEMENTATION /* the out-of-line forms */
#define MG_BITWISE_SHARED(suffix, type)                                                            \
    MG_ELEMENTWISE_SHARED(mg_bitwise_and_##suffix, type, type)                                     \
    MG_ELEMENTWISE_SHARED(mg_bitwise_or_##suffix, type, type)                                      \
    MG_ELEMENTWISE_SHARED(mg_bitwise_xor_##suffix, type, type)

#define MG_SHIFTS_SHARED(suffix, type)                                                             \
    MG_ELEMENTWISE_SHARED(mg_shift_left_##suffix, type, type)                                      \
    MG_ELEMENTWISE_SHARED(mg_shift_right_##suffix, type, type)

MG_BITWISE_SHARED(i8, int8_t)
MG_BITWISE_SHARED(u8, uint8_t)
MG_BITWISE_SHARED(i16, int16_t)
MG_BITWISE_SHARED(u16, uint16_t)
MG_BITWISE_SHARED(s32, int32_t)
MG_BITWISE_SHARED(u32, uint32_t)
MG_BITWISE_SHARED(s64, int64_t)
MG_BITWISE_SHARED(u64, uint64_t)
MG_SHIFTS_SHARED(u8, uint8_t)
MG_SHIFTS_SHARED(u16, uint16_t)
MG_SHIFTS_SHARED(u32, uint32_t)
MG_SHIFTS_SHARED(u64, uint64_t)
#endif

#ifdef __cplusplus
}
#endif

#endif
