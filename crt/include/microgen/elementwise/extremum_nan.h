/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise maximum and minimum of two float32 tensors, with broadcasting. NaN if either is. */
#ifndef MICROGEN_EXTREMUM_NAN_H
#define MICROGEN_EXTREMUM_NAN_H

#include <stdint.h>

#include "microgen/elementwise/broadcast.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

MG_ELEMENTWISE(mg_maximum_nan_f32, mg_broadcast_params, float, float,
               (lhs > rhs || lhs != lhs) ? lhs : rhs)
MG_ELEMENTWISE(mg_minimum_nan_f32, mg_broadcast_params, float, float,
               (lhs < rhs || lhs != lhs) ? lhs : rhs)

#ifdef MG_EXTREMUM_NAN_IMPLEMENTATION /* the out-of-line forms */
MG_ELEMENTWISE_SHARED(mg_maximum_nan_f32, float, float)
MG_ELEMENTWISE_SHARED(mg_minimum_nan_f32, float, float)
#endif

#ifdef __cplusplus
}
#endif

#endif
