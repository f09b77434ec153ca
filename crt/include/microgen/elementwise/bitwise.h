/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise logic and shifts of the bits of integers, with broadcasting. */
#ifndef MICROGEN_BITWISE_H
#define MICROGEN_BITWISE_H

#include "microgen/elementwise/broadcast.h"

#ifdef MG_BITWISE_IMPLEMENTATION /* with the out-of-line forms */
#define MG_BITWISE_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_BITWISE_EACH MG_ELEMENTWISE
#endif

#define MG_BITWISE(suffix, type)                                                                   \
    MG_BITWISE_EACH(mg_bitwise_and_##suffix, mg_broadcast_params, type, type, (lhs & rhs))         \
    MG_BITWISE_EACH(mg_bitwise_or_##suffix, mg_broadcast_params, type, type, (lhs | rhs))          \
    MG_BITWISE_EACH(mg_bitwise_xor_##suffix, mg_broadcast_params, type, type, (lhs ^ rhs))

/* Shifts by rhs bits; `word` is the unsigned type in which they are computed. By a negative number
 * of bits, or by all of them and more, nothing is left but what comes in: zeros, or, to the right,
 * copies of the sign. A sign is kept by shifting the inverted bits. */
#define MG_SHIFTS(suffix, type, word, bits)                                                        \
    MG_INLINE word mg_##suffix##_shifted(word x, type count, int is_left)                          \
    {                                                                                              \
        const word amount = (word)count;                                                           \
        if (amount >= (word)(bits)) {                                                              \
            return 0U;                                                                             \
        }                                                                                          \
        return is_left ? x << amount : x >> amount;                                                \
    }                                                                                              \
    MG_INLINE type mg_##suffix##_shift_left(type x, type count)                                    \
    {                                                                                              \
        return (type)mg_##suffix##_shifted((word)x, count, 1);                                     \
    }                                                                                              \
    MG_INLINE type mg_##suffix##_shift_right(type x, type count)                                   \
    {                                                                                              \
        const word sign = (x >= 1 || x == 0) ? 0U : ~(word)0U;                                     \
        return (type)(mg_##suffix##_shifted((word)x ^ sign, count, 0) ^ sign);                     \
    }                                                                                              \
    MG_BITWISE_EACH(mg_shift_left_##suffix, mg_broadcast_params, type, type,                       \
                    mg_##suffix##_shift_left(lhs, rhs))                                            \
    MG_BITWISE_EACH(mg_shift_right_##suffix, mg_broadcast_params, type, type,                      \
                    mg_##suffix##_shift_right(lhs, rhs))

/* mg_bitwise_and_i8, mg_bitwise_or_i8, mg_bitwise_xor_i8 */
MG_BITWISE(i8, int8_t)
/* mg_bitwise_and_u8, mg_bitwise_or_u8, mg_bitwise_xor_u8 */
MG_BITWISE(u8, uint8_t)
/* mg_bitwise_and_i16, mg_bitwise_or_i16, mg_bitwise_xor_i16 */
MG_BITWISE(i16, int16_t)
/* mg_bitwise_and_u16, mg_bitwise_or_u16, mg_bitwise_xor_u16 */
MG_BITWISE(u16, uint16_t)
/* mg_bitwise_and_s32, mg_bitwise_or_s32, mg_bitwise_xor_s32 */
MG_BITWISE(s32, int32_t)
/* mg_bitwise_and_u32, mg_bitwise_or_u32, mg_bitwise_xor_u32 */
MG_BITWISE(u32, uint32_t)
/* mg_bitwise_and_s64, mg_bitwise_or_s64, mg_bitwise_xor_s64 */
MG_BITWISE(s64, int64_t)
/* mg_bitwise_and_u64, mg_bitwise_or_u64, mg_bitwise_xor_u64 */
MG_BITWISE(u64, uint64_t)
/* mg_shift_left_i8, mg_shift_right_i8 */
MG_SHIFTS(i8, int8_t, uint32_t, 8)
/* mg_shift_left_u8, mg_shift_right_u8 */
MG_SHIFTS(u8, uint8_t, uint32_t, 8)
/* mg_shift_left_i16, mg_shift_right_i16 */
MG_SHIFTS(i16, int16_t, uint32_t, 16)
/* mg_shift_left_u16, mg_shift_right_u16 */
MG_SHIFTS(u16, uint16_t, uint32_t, 16)
/* mg_shift_left_s32, mg_shift_right_s32 */
MG_SHIFTS(s32, int32_t, uint32_t, 32)
/* mg_shift_left_u32, mg_shift_right_u32 */
MG_SHIFTS(u32, uint32_t, uint32_t, 32)
/* mg_shift_left_s64, mg_shift_right_s64 */
MG_SHIFTS(s64, int64_t, uint64_t, 64)
/* mg_shift_left_u64, mg_shift_right_u64 */
MG_SHIFTS(u64, uint64_t, uint64_t, 64)

#endif
