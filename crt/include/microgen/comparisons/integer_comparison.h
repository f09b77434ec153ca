/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise comparison of two tensors of plain integers with broadcasting: 0 or 1 for each pair
 * of elements. int32 and int64 are in microgen/comparisons/comparison.h. */
#ifndef MICROGEN_INTEGER_COMPARISON_H
#define MICROGEN_INTEGER_COMPARISON_H

#include "microgen/elementwise/broadcast.h"

#ifdef MG_INTEGER_COMPARISON_IMPLEMENTATION /* with the out-of-line forms */
#define MG_INTEGER_COMPARISON_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_INTEGER_COMPARISON_EACH MG_ELEMENTWISE
#endif

#define MG_INTEGER_COMPARISON(suffix, type)                                                        \
    MG_INTEGER_COMPARISON_EACH(mg_less_##suffix, mg_broadcast_params, type, uint8_t, lhs < rhs)    \
    MG_INTEGER_COMPARISON_EACH(mg_less_equal_##suffix, mg_broadcast_params, type, uint8_t,         \
                               lhs <= rhs)                                                         \
    MG_INTEGER_COMPARISON_EACH(mg_greater_##suffix, mg_broadcast_params, type, uint8_t, lhs > rhs) \
    MG_INTEGER_COMPARISON_EACH(mg_greater_equal_##suffix, mg_broadcast_params, type, uint8_t,      \
                               lhs >= rhs)                                                         \
    MG_INTEGER_COMPARISON_EACH(mg_equal_##suffix, mg_broadcast_params, type, uint8_t, lhs == rhs)  \
    MG_INTEGER_COMPARISON_EACH(mg_not_equal_##suffix, mg_broadcast_params, type, uint8_t,          \
                               lhs != rhs)

/* mg_less_i8, mg_less_equal_i8, mg_greater_i8, mg_greater_equal_i8, mg_equal_i8,
 * mg_not_equal_i8 */
MG_INTEGER_COMPARISON(i8, int8_t)
/* mg_less_u8, mg_less_equal_u8, mg_greater_u8, mg_greater_equal_u8, mg_equal_u8,
 * mg_not_equal_u8 */
MG_INTEGER_COMPARISON(u8, uint8_t)
/* mg_less_i16, mg_less_equal_i16, mg_greater_i16, mg_greater_equal_i16, mg_equal_i16,
 * mg_not_equal_i16 */
MG_INTEGER_COMPARISON(i16, int16_t)
/* mg_less_u16, mg_less_equal_u16, mg_greater_u16, mg_greater_equal_u16, mg_equal_u16,
 * mg_not_equal_u16 */
MG_INTEGER_COMPARISON(u16, uint16_t)
/* mg_less_u32, mg_less_equal_u32, mg_greater_u32, mg_greater_equal_u32, mg_equal_u32,
 * mg_not_equal_u32 */
MG_INTEGER_COMPARISON(u32, uint32_t)
/* mg_less_u64, mg_less_equal_u64, mg_greater_u64, mg_greater_equal_u64, mg_equal_u64,
 * mg_not_equal_u64 */
MG_INTEGER_COMPARISON(u64, uint64_t)

#endif
