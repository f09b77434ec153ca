/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise maximum and minimum of two tensors of integers, with broadcasting. Those of int8 to
 * int32 are in microgen/elementwise/extremum.h. */
#ifndef MICROGEN_INTEGER_EXTREMUM_H
#define MICROGEN_INTEGER_EXTREMUM_H

#include <stdint.h>

#include "microgen/elementwise/broadcast.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

MG_ELEMENTWISE(mg_maximum_u8, mg_broadcast_params, uint8_t, uint8_t, (lhs > rhs) ? lhs : rhs)
MG_ELEMENTWISE(mg_maximum_u16, mg_broadcast_params, uint16_t, uint16_t, (lhs > rhs) ? lhs : rhs)
MG_ELEMENTWISE(mg_maximum_u32, mg_broadcast_params, uint32_t, uint32_t, (lhs > rhs) ? lhs : rhs)
MG_ELEMENTWISE(mg_maximum_s64, mg_broadcast_params, int64_t, int64_t, (lhs > rhs) ? lhs : rhs)
MG_ELEMENTWISE(mg_maximum_u64, mg_broadcast_params, uint64_t, uint64_t, (lhs > rhs) ? lhs : rhs)
MG_ELEMENTWISE(mg_minimum_u8, mg_broadcast_params, uint8_t, uint8_t, (lhs < rhs) ? lhs : rhs)
MG_ELEMENTWISE(mg_minimum_u16, mg_broadcast_params, uint16_t, uint16_t, (lhs < rhs) ? lhs : rhs)
MG_ELEMENTWISE(mg_minimum_u32, mg_broadcast_params, uint32_t, uint32_t, (lhs < rhs) ? lhs : rhs)
MG_ELEMENTWISE(mg_minimum_s64, mg_broadcast_params, int64_t, int64_t, (lhs < rhs) ? lhs : rhs)
MG_ELEMENTWISE(mg_minimum_u64, mg_broadcast_params, uint64_t, uint64_t, (lhs < rhs) ? lhs : rhs)

#ifdef MG_INTEGER_EXTREMUM_IMPLEMENTATION /* the out-of-line forms */
MG_ELEMENTWISE_SHARED(mg_maximum_u8, uint8_t, uint8_t)
MG_ELEMENTWISE_SHARED(mg_maximum_u16, uint16_t, uint16_t)
MG_ELEMENTWISE_SHARED(mg_maximum_u32, uint32_t, uint32_t)
MG_ELEMENTWISE_SHARED(mg_maximum_s64, int64_t, int64_t)
MG_ELEMENTWISE_SHARED(mg_maximum_u64, uint64_t, uint64_t)
MG_ELEMENTWISE_SHARED(mg_minimum_u8, uint8_t, uint8_t)
MG_ELEMENTWISE_SHARED(mg_minimum_u16, uint16_t, uint16_t)
MG_ELEMENTWISE_SHARED(mg_minimum_u32, uint32_t, uint32_t)
MG_ELEMENTWISE_SHARED(mg_minimum_s64, int64_t, int64_t)
MG_ELEMENTWISE_SHARED(mg_minimum_u64, uint64_t, uint64_t)
#endif

#ifdef __cplusplus
}
#endif

#endif
