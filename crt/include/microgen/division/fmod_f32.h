/* SPDX-License-Identifier: Apache-2.0 */
/* Remainders of quotients of float32 numbers that are rounded towards 0, with broadcasting. */
#ifndef MICROGEN_FMOD_F32_H
#define MICROGEN_FMOD_F32_H

#include "microgen/arithmetic/floor_division.h"
#include "microgen/elementwise/broadcast.h"

#ifdef MG_FMOD_F32_IMPLEMENTATION /* with the out-of-line forms */
#define MG_FMOD_F32_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_FMOD_F32_EACH MG_ELEMENTWISE
#endif

/* The remainder has the sign of lhs; it is NaN for rhs = 0. */
MG_FMOD_F32_EACH(mg_fmod_f32, mg_broadcast_params, float, float, mg_f32_remainder(lhs, rhs))

#endif
