/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise maximum and minimum of two float32 tensors, with broadcasting. NaN if either is. */
#ifndef MICROGEN_EXTREMUM_NAN_H
#define MICROGEN_EXTREMUM_NAN_H

#include "microgen/elementwise/broadcast.h"

#ifdef MG_EXTREMUM_NAN_IMPLEMENTATION /* with the out-of-line forms */
#define MG_EXTREMUM_NAN_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_EXTREMUM_NAN_EACH MG_ELEMENTWISE
#endif

MG_EXTREMUM_NAN_EACH(mg_maximum_nan_f32, mg_broadcast_params, float, float,
                     (lhs > rhs || lhs != lhs) ? lhs : rhs)
MG_EXTREMUM_NAN_EACH(mg_minimum_nan_f32, mg_broadcast_params, float, float,
                     (lhs < rhs || lhs != lhs) ? lhs : rhs)

#endif
