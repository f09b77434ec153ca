/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise maximum and minimum of two tensors, with broadcasting. */
#ifndef MICROGEN_EXTREMUM_H
#define MICROGEN_EXTREMUM_H

#include "microgen/elementwise/broadcast.h"

#ifdef MG_EXTREMUM_IMPLEMENTATION /* with the out-of-line forms */
#define MG_EXTREMUM_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_EXTREMUM_EACH MG_ELEMENTWISE
#endif

/* Compares stored values, so int8 or int16 tensors should all have the same quantization. If a
 * float operand is NaN, or if both are zeros, the result is rhs. */
MG_EXTREMUM_EACH(mg_maximum_s8, mg_broadcast_params, int8_t, int8_t, (lhs > rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_maximum_s16, mg_broadcast_params, int16_t, int16_t, (lhs > rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_maximum_s32, mg_broadcast_params, int32_t, int32_t, (lhs > rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_maximum_f32, mg_broadcast_params, float, float, (lhs > rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_minimum_s8, mg_broadcast_params, int8_t, int8_t, (lhs < rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_minimum_s16, mg_broadcast_params, int16_t, int16_t, (lhs < rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_minimum_s32, mg_broadcast_params, int32_t, int32_t, (lhs < rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_minimum_f32, mg_broadcast_params, float, float, (lhs < rhs) ? lhs : rhs)

MG_EXTREMUM_EACH(mg_maximum_u8, mg_broadcast_params, uint8_t, uint8_t, (lhs > rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_maximum_u16, mg_broadcast_params, uint16_t, uint16_t, (lhs > rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_maximum_u32, mg_broadcast_params, uint32_t, uint32_t, (lhs > rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_maximum_s64, mg_broadcast_params, int64_t, int64_t, (lhs > rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_maximum_u64, mg_broadcast_params, uint64_t, uint64_t, (lhs > rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_minimum_u8, mg_broadcast_params, uint8_t, uint8_t, (lhs < rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_minimum_u16, mg_broadcast_params, uint16_t, uint16_t, (lhs < rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_minimum_u32, mg_broadcast_params, uint32_t, uint32_t, (lhs < rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_minimum_s64, mg_broadcast_params, int64_t, int64_t, (lhs < rhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_minimum_u64, mg_broadcast_params, uint64_t, uint64_t, (lhs < rhs) ? lhs : rhs)

/* The result is NaN if either operand is. */
MG_EXTREMUM_EACH(mg_maximum_nan_f32, mg_broadcast_params, float, float,
                 (lhs > rhs || lhs != lhs) ? lhs : rhs)
MG_EXTREMUM_EACH(mg_minimum_nan_f32, mg_broadcast_params, float, float,
                 (lhs < rhs || lhs != lhs) ? lhs : rhs)

#endif
