/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of each of float32 values. */
#ifndef MICROGEN_REAL_FUNCTION_H
#define MICROGEN_REAL_FUNCTION_H

#include <stdint.h>

#include "microgen/clamp_f32.h"
#include "microgen/float_angles.h"
#include "microgen/float_erf.h"
#include "microgen/float_hyperbolic.h"
#include "microgen/float_inverse_angles.h"
#include "microgen/float_math.h"
#include "microgen/inline.h"
#include "microgen/unary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The parameters of functions with numbers in their formulas. */
typedef struct {
    int32_t size; /* elements */
    float alpha;  /* any; see the functions for those that one has */
    float beta;
    float gamma;
} mg_numbered_function_params;

/* x Phi(x), with the normal distribution's Phi, by the error function. */
MG_INLINE float mg_f32_gelu(float x)
{
    return 0.5F * x * (1.0F + mg_f32_erf(x * 0.707106781F));
}

/* x Phi(x), approximately, by the hyperbolic tangent. */
MG_INLINE float mg_f32_gelu_tanh(float x)
{
    return 0.5F * x * (1.0F + mg_f32_tanh(0.797884561F * (x + 0.044715F * (x * x * x))));
}

MG_INLINE float mg_f32_reciprocal(float x)
{
    return 1.0F / x;
}

/* 1 or -1; zeros and NaN as they are */
MG_INLINE float mg_f32_sign(float x)
{
    if (x > 0.0F) {
        return 1.0F;
    }
    return (x < 0.0F) ? -1.0F : x;
}

MG_INLINE float mg_f32_softsign(float x)
{
    return x / (1.0F + mg_f32_abs(x));
}

/* x / (1 + exp(-alpha x)) */
MG_INLINE float mg_swish_f32_element(const mg_numbered_function_params *p, float x)
{
    return x * mg_f32_sigmoid(p->alpha * x);
}

/* gamma x, or alpha (exp(x / beta) - 1) unless x is positive */
MG_INLINE float mg_scaled_elu_f32_element(const mg_numbered_function_params *p, float x)
{
    return (x > 0.0F) ? p->gamma * x : p->alpha * mg_f32_expm1(x / p->beta);
}

/* x, but at least alpha, and then at most beta */
MG_INLINE float mg_bounded_f32_element(const mg_numbered_function_params *p, float x)
{
    const float raised = (x < p->alpha) ? p->alpha : x;
    return (raised > p->beta) ? p->beta : raised;
}

/* alpha x + beta, clamped to [0, 1] */
MG_INLINE float mg_hard_sigmoid_f32_element(const mg_numbered_function_params *p, float x)
{
    return mg_clamp_f32(p->alpha * x + p->beta, 0.0F, 1.0F);
}

/* x without beta of its magnitude, or 0 if that is at most alpha */
MG_INLINE float mg_shrink_f32_element(const mg_numbered_function_params *p, float x)
{
    if (x > p->alpha) {
        return x - p->beta;
    }
    return (x < -p->alpha) ? x + p->beta : 0.0F;
}

/* x if it is more than alpha, else 0 */
MG_INLINE float mg_thresholded_relu_f32_element(const mg_numbered_function_params *p, float x)
{
    return (x > p->alpha) ? x : 0.0F;
}

/* Declares the kernel of one of the latter, and defines its body; microgen/unary.h describes its
 * arguments. */
#define MG_NUMBERED_FUNCTION(symbol)                                                               \
    typedef mg_numbered_function_params symbol##_params;                                           \
    void symbol(const symbol##_params *p, const float *input, float *output);                      \
    MG_INLINE void symbol##_body(const symbol##_params *p, const float *input, float *output)      \
    {                                                                                              \
        MG_UNARY(symbol##_element, p, input, output);                                              \
    }

MG_UNARY_KERNEL(mg_erf_f32, float, mg_f32_erf)
MG_UNARY_KERNEL(mg_tan_f32, float, mg_f32_tan)
MG_UNARY_KERNEL(mg_asin_f32, float, mg_f32_asin)
MG_UNARY_KERNEL(mg_acos_f32, float, mg_f32_acos)
MG_UNARY_KERNEL(mg_atan_f32, float, mg_f32_atan)
MG_UNARY_KERNEL(mg_sinh_f32, float, mg_f32_sinh)
MG_UNARY_KERNEL(mg_cosh_f32, float, mg_f32_cosh)
MG_UNARY_KERNEL(mg_asinh_f32, float, mg_f32_asinh)
MG_UNARY_KERNEL(mg_acosh_f32, float, mg_f32_acosh)
MG_UNARY_KERNEL(mg_atanh_f32, float, mg_f32_atanh)
MG_UNARY_KERNEL(mg_softplus_f32, float, mg_f32_softplus)
MG_UNARY_KERNEL(mg_mish_f32, float, mg_f32_mish)
MG_UNARY_KERNEL(mg_gelu_f32, float, mg_f32_gelu)
MG_UNARY_KERNEL(mg_gelu_tanh_f32, float, mg_f32_gelu_tanh)
MG_UNARY_KERNEL(mg_reciprocal_f32, float, mg_f32_reciprocal)
MG_UNARY_KERNEL(mg_sign_f32, float, mg_f32_sign)
MG_UNARY_KERNEL(mg_softsign_f32, float, mg_f32_softsign)

MG_NUMBERED_FUNCTION(mg_swish_f32)
MG_NUMBERED_FUNCTION(mg_scaled_elu_f32)
MG_NUMBERED_FUNCTION(mg_bounded_f32)
MG_NUMBERED_FUNCTION(mg_hard_sigmoid_f32)
MG_NUMBERED_FUNCTION(mg_shrink_f32)
MG_NUMBERED_FUNCTION(mg_thresholded_relu_f32)

#ifdef MG_REAL_FUNCTION_IMPLEMENTATION /* the out-of-line forms */
MG_UNARY_SHARED(mg_erf_f32, float)
MG_UNARY_SHARED(mg_tan_f32, float)
MG_UNARY_SHARED(mg_asin_f32, float)
MG_UNARY_SHARED(mg_acos_f32, float)
MG_UNARY_SHARED(mg_atan_f32, float)
MG_UNARY_SHARED(mg_sinh_f32, float)
MG_UNARY_SHARED(mg_cosh_f32, float)
MG_UNARY_SHARED(mg_asinh_f32, float)
MG_UNARY_SHARED(mg_acosh_f32, float)
MG_UNARY_SHARED(mg_atanh_f32, float)
MG_UNARY_SHARED(mg_softplus_f32, float)
MG_UNARY_SHARED(mg_mish_f32, float)
MG_UNARY_SHARED(mg_gelu_f32, float)
MG_UNARY_SHARED(mg_gelu_tanh_f32, float)
MG_UNARY_SHARED(mg_reciprocal_f32, float)
MG_UNARY_SHARED(mg_sign_f32, float)
MG_UNARY_SHARED(mg_softsign_f32, float)
MG_UNARY_SHARED(mg_swish_f32, float)
MG_UNARY_SHARED(mg_scaled_elu_f32, float)
MG_UNARY_SHARED(mg_bounded_f32, float)
MG_UNARY_SHARED(mg_hard_sigmoid_f32, float)
MG_UNARY_SHARED(mg_shrink_f32, float)
MG_UNARY_SHARED(mg_thresholded_relu_f32, float)
#endif

#ifdef __cplusplus
}
#endif

#endif
