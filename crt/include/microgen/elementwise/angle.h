/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise angles of points, with broadcasting. */
#ifndef MICROGEN_ANGLE_H
#define MICROGEN_ANGLE_H

#include "microgen/arithmetic/float_inverse_angles.h"
#include "microgen/elementwise/broadcast.h"

#ifdef MG_ANGLE_IMPLEMENTATION /* with the out-of-line forms */
#define MG_ANGLE_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_ANGLE_EACH MG_ELEMENTWISE
#endif

MG_ANGLE_EACH(mg_atan2_f32, mg_broadcast_params, float, float, mg_f32_atan2(lhs, rhs))

#endif
