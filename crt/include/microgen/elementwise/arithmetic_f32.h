/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise arithmetic of float32 tensors with broadcasting, according to IEEE 754. */
#ifndef MICROGEN_ARITHMETIC_F32_H
#define MICROGEN_ARITHMETIC_F32_H

#include <stdint.h>

#include "microgen/arithmetic/clamp_f32.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t shape[4];      /* of the output */
    int32_t lhs_stride[4]; /* elements between neighbouring indices; 0: broadcast */
    int32_t rhs_stride[4]; /* the same */
    float activation_min;  /* finite */
    float activation_max;  /* finite, activation_min or more */
} mg_arithmetic_f32_params;

MG_INLINE float mg_activated_f32(const mg_arithmetic_f32_params *p, float x)
{
    return mg_clamp_f32(x, p->activation_min, p->activation_max);
}

/* Sums, differences, products and quotients, clamped to [activation_min, activation_max]. */
MG_ELEMENTWISE(mg_add_f32, mg_arithmetic_f32_params, float, float, mg_activated_f32(p, lhs + rhs))
MG_ELEMENTWISE(mg_subtract_f32, mg_arithmetic_f32_params, float, float,
               mg_activated_f32(p, lhs - rhs))
MG_ELEMENTWISE(mg_multiply_f32, mg_arithmetic_f32_params, float, float,
               mg_activated_f32(p, (lhs * rhs)))
MG_ELEMENTWISE(mg_divide_f32, mg_arithmetic_f32_params, float, float,
               mg_activated_f32(p, lhs / rhs))

/* Squares of differences; overflow gives an infinity. */
MG_ELEMENTWISE(mg_squared_difference_f32, mg_broadcast_params, float, float,
               (lhs - rhs) * (lhs - rhs))

#ifdef MG_ARITHMETIC_F32_IMPLEMENTATION /* the out-of-line forms */
MG_ELEMENTWISE_SHARED(mg_add_f32, float, float)
MG_ELEMENTWISE_SHARED(mg_subtract_f32, float, float)
MG_ELEMENTWISE_SHARED(mg_multiply_f32, float, float)
MG_ELEMENTWISE_SHARED(mg_divide_f32, float, float)
MG_ELEMENTWISE_SHARED(mg_squared_difference_f32, float, float)
#endif

#ifdef __cplusplus
}
#endif

#endif
