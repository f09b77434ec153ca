/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise arithmetic of plain integers with broadcasting. int32 and int64 have headers of their
 * own. */
#ifndef MICROGEN_INTEGER_ARITHMETIC_H
#define MICROGEN_INTEGER_ARITHMETIC_H

#include "microgen/elementwise/broadcast.h"

#ifdef MG_INTEGER_ARITHMETIC_IMPLEMENTATION /* with the out-of-line forms */
#define MG_INTEGER_ARITHMETIC_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_INTEGER_ARITHMETIC_EACH MG_ELEMENTWISE
#endif

/* Sums, differences and products modulo 2^n, with n the bits of `type`. They are computed in 32
 * bits without a sign, which wrap. */
#define MG_INTEGER_ARITHMETIC(suffix, type)                                                        \
    MG_INTEGER_ARITHMETIC_EACH(mg_add_##suffix, mg_broadcast_params, type, type,                   \
                               (uint32_t)lhs + (uint32_t)rhs)                                      \
    MG_INTEGER_ARITHMETIC_EACH(mg_subtract_##suffix, mg_broadcast_params, type, type,              \
                               (uint32_t)lhs - (uint32_t)rhs)                                      \
    MG_INTEGER_ARITHMETIC_EACH(mg_multiply_##suffix, mg_broadcast_params, type, type,              \
                               (uint32_t)lhs *(uint32_t)rhs)

/* mg_add_i8, mg_subtract_i8, mg_multiply_i8 */
MG_INTEGER_ARITHMETIC(i8, int8_t)
/* mg_add_u8, mg_subtract_u8, mg_multiply_u8 */
MG_INTEGER_ARITHMETIC(u8, uint8_t)
/* mg_add_i16, mg_subtract_i16, mg_multiply_i16 */
MG_INTEGER_ARITHMETIC(i16, int16_t)
/* mg_add_u16, mg_subtract_u16, mg_multiply_u16 */
MG_INTEGER_ARITHMETIC(u16, uint16_t)
/* mg_add_u32, mg_subtract_u32, mg_multiply_u32 */
MG_INTEGER_ARITHMETIC(u32, uint32_t)

MG_INTEGER_ARITHMETIC_EACH(mg_add_u64, mg_broadcast_params, uint64_t, uint64_t, lhs + rhs)
MG_INTEGER_ARITHMETIC_EACH(mg_subtract_u64, mg_broadcast_params, uint64_t, uint64_t, lhs - rhs)
MG_INTEGER_ARITHMETIC_EACH(mg_multiply_u64, mg_broadcast_params, uint64_t, uint64_t, (lhs * rhs))

#endif
