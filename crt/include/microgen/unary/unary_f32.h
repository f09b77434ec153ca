/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of each float32 value x. */
#ifndef MICROGEN_UNARY_F32_H
#define MICROGEN_UNARY_F32_H

#include "microgen/arithmetic/clamp.h"
#include "microgen/arithmetic/float_angles.h"
#include "microgen/arithmetic/float_math.h"
#include "microgen/unary/unary.h"

#ifdef MG_UNARY_F32_IMPLEMENTATION /* with the out-of-line forms */
#define MG_UNARY_F32_EACH MG_UNARY_KERNEL_DEFINED
#else
#define MG_UNARY_F32_EACH MG_UNARY_KERNEL
#endif

/* x if x >= 0, else exp(x) - 1. */
MG_INLINE float mg_elu_f32_element(float x)
{
    return (x < 0.0F) ? mg_f32_expm1(x) : x;
}

/* x * relu6(x + 3) / 6. */
MG_INLINE float mg_hard_swish_f32_element(float x)
{
    return x * mg_clamp_f32(x + 3.0F, 0.0F, 6.0F) / 6.0F;
}

MG_INLINE float mg_negative_f32_element(float x)
{
    return -x;
}

/* The kernels without parameters of their own; microgen/unary/unary.h describes their arguments. */
MG_UNARY_F32_EACH(mg_abs_f32, float, mg_f32_abs)   /* |x| */
MG_UNARY_F32_EACH(mg_ceil_f32, float, mg_f32_ceil) /* the least integer that is not below x */
MG_UNARY_F32_EACH(mg_cos_f32, float, mg_f32_cos)   /* cos(x) */
MG_UNARY_F32_EACH(mg_elu_f32, float, mg_elu_f32_element)
MG_UNARY_F32_EACH(mg_exp_f32, float, mg_f32_exp)     /* exp(x) */
MG_UNARY_F32_EACH(mg_floor_f32, float, mg_f32_floor) /* the greatest integer that is not above x */
MG_UNARY_F32_EACH(mg_hard_swish_f32, float, mg_hard_swish_f32_element)
MG_UNARY_F32_EACH(mg_log_f32, float, mg_f32_log) /* the natural logarithm */
MG_UNARY_F32_EACH(mg_negative_f32, float, mg_negative_f32_element)
MG_UNARY_F32_EACH(mg_round_f32, float,
                  mg_f32_round_half_even)                /* the nearest integer, ties to even */
MG_UNARY_F32_EACH(mg_rsqrt_f32, float, mg_f32_rsqrt)     /* 1 / sqrt(x) */
MG_UNARY_F32_EACH(mg_sigmoid_f32, float, mg_f32_sigmoid) /* 1 / (1 + exp(-x)) */
MG_UNARY_F32_EACH(mg_sin_f32, float, mg_f32_sin)         /* sin(x) */
MG_UNARY_F32_EACH(mg_sqrt_f32, float, mg_f32_sqrt)       /* sqrt(x) */
MG_UNARY_F32_EACH(mg_tanh_f32, float, mg_f32_tanh)       /* tanh(x) */

typedef struct {
    int32_t size; /* elements */
    float alpha;  /* any */
} mg_leaky_relu_f32_params;

MG_INLINE float mg_leaky_relu_f32_element(const mg_leaky_relu_f32_params *p, float x)
{
    return (x > 0.0F) ? x : x * p->alpha;
}

/* Copies input [size] to output [size] and multiplies values that are not greater than 0 by alpha.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ELEMENT(mg_leaky_relu_f32, float, float)

#ifdef MG_UNARY_F32_IMPLEMENTATION
MG_DEFINE_UNARY(mg_leaky_relu_f32, float, float)
#endif

#endif
