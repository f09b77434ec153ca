/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise arithmetic of float32 tensors with broadcasting, according to IEEE 754. */
#ifndef MICROGEN_ARITHMETIC_F32_H
#define MICROGEN_ARITHMETIC_F32_H

#include "microgen/arithmetic/clamp.h"
#include "microgen/elementwise/broadcast.h"

#ifdef MG_ARITHMETIC_F32_IMPLEMENTATION /* with the out-of-line forms */
#define MG_ARITHMETIC_F32_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_ARITHMETIC_F32_EACH MG_ELEMENTWISE
#endif

typedef struct {
    MG_BROADCAST_SHAPES
    float activation_min; /* finite */
    float activation_max; /* finite, activation_min or more */
} mg_arithmetic_f32_params;

MG_INLINE float mg_activated_f32(const mg_arithmetic_f32_params *p, float x)
{
    return mg_clamp_f32(x, p->activation_min, p->activation_max);
}

/* Sums, differences, products and quotients, clamped to [activation_min, activation_max]. */
MG_ARITHMETIC_F32_EACH(mg_add_f32, mg_arithmetic_f32_params, float, float,
                       mg_activated_f32(p, lhs + rhs))
MG_ARITHMETIC_F32_EACH(mg_subtract_f32, mg_arithmetic_f32_params, float, float,
                       mg_activated_f32(p, lhs - rhs))
MG_ARITHMETIC_F32_EACH(mg_multiply_f32, mg_arithmetic_f32_params, float, float,
                       mg_activated_f32(p, (lhs * rhs)))
MG_ARITHMETIC_F32_EACH(mg_divide_f32, mg_arithmetic_f32_params, float, float,
                       mg_activated_f32(p, lhs / rhs))

/* Squares of differences; overflow gives an infinity. */
MG_ARITHMETIC_F32_EACH(mg_squared_difference_f32, mg_broadcast_params, float, float,
                       (lhs - rhs) * (lhs - rhs))

#endif
