/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise maximum and minimum of two tensors of integers, with broadcasting. Those of int8 to
 * int32 are in microgen/elementwise/extremum.h. */
#ifndef MICROGEN_INTEGER_EXTREMUM_H
#define MICROGEN_INTEGER_EXTREMUM_H

#include "microgen/elementwise/broadcast.h"

#ifdef MG_INTEGER_EXTREMUM_IMPLEMENTATION /* with the out-of-line forms */
#define MG_INTEGER_EXTREMUM_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_INTEGER_EXTREMUM_EACH MG_ELEMENTWISE
#endif

MG_INTEGER_EXTREMUM_EACH(mg_maximum_u8, mg_broadcast_params, uint8_t, uint8_t,
                         (lhs > rhs) ? lhs : rhs)
MG_INTEGER_EXTREMUM_EACH(mg_maximum_u16, mg_broadcast_params, uint16_t, uint16_t,
                         (lhs > rhs) ? lhs : rhs)
MG_INTEGER_EXTREMUM_EACH(mg_maximum_u32, mg_broadcast_params, uint32_t, uint32_t,
                         (lhs > rhs) ? lhs : rhs)
MG_INTEGER_EXTREMUM_EACH(mg_maximum_s64, mg_broadcast_params, int64_t, int64_t,
                         (lhs > rhs) ? lhs : rhs)
MG_INTEGER_EXTREMUM_EACH(mg_maximum_u64, mg_broadcast_params, uint64_t, uint64_t,
                         (lhs > rhs) ? lhs : rhs)
MG_INTEGER_EXTREMUM_EACH(mg_minimum_u8, mg_broadcast_params, uint8_t, uint8_t,
                         (lhs < rhs) ? lhs : rhs)
MG_INTEGER_EXTREMUM_EACH(mg_minimum_u16, mg_broadcast_params, uint16_t, uint16_t,
                         (lhs < rhs) ? lhs : rhs)
MG_INTEGER_EXTREMUM_EACH(mg_minimum_u32, mg_broadcast_params, uint32_t, uint32_t,
                         (lhs < rhs) ? lhs : rhs)
MG_INTEGER_EXTREMUM_EACH(mg_minimum_s64, mg_broadcast_params, int64_t, int64_t,
                         (lhs < rhs) ? lhs : rhs)
MG_INTEGER_EXTREMUM_EACH(mg_minimum_u64, mg_broadcast_params, uint64_t, uint64_t,
                         (lhs < rhs) ? lhs : rhs)

#endif
