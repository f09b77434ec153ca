/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of each of float32 values. */
#ifndef MICROGEN_REAL_FUNCTION_H
#define MICROGEN_REAL_FUNCTION_H

#include "microgen/arithmetic/clamp.h"
#include "microgen/arithmetic/float_angles.h"
#include "microgen/arithmetic/float_erf.h"
#include "microgen/arithmetic/float_hyperbolic.h"
#include "microgen/arithmetic/float_inverse_angles.h"
#include "microgen/arithmetic/float_math.h"

/* The functions, each with its kernel. The numbers in the formulas of the last ones are alpha, beta
 * and gamma. */
enum {
    MG_FUNCTION_ERF,              /* mg_erf_f32 */
    MG_FUNCTION_TAN,              /* mg_tan_f32 */
    MG_FUNCTION_ASIN,             /* mg_asin_f32 */
    MG_FUNCTION_ACOS,             /* mg_acos_f32 */
    MG_FUNCTION_ATAN,             /* mg_atan_f32 */
    MG_FUNCTION_SINH,             /* mg_sinh_f32 */
    MG_FUNCTION_COSH,             /* mg_cosh_f32 */
    MG_FUNCTION_ASINH,            /* mg_asinh_f32 */
    MG_FUNCTION_ACOSH,            /* mg_acosh_f32 */
    MG_FUNCTION_ATANH,            /* mg_atanh_f32 */
    MG_FUNCTION_SOFTPLUS,         /* mg_softplus_f32 */
    MG_FUNCTION_MISH,             /* mg_mish_f32 */
    MG_FUNCTION_GELU,             /* mg_gelu_f32 */
    MG_FUNCTION_GELU_TANH,        /* mg_gelu_tanh_f32 */
    MG_FUNCTION_RECIPROCAL,       /* mg_reciprocal_f32 */
    MG_FUNCTION_SIGN,             /* mg_sign_f32 */
    MG_FUNCTION_SOFTSIGN,         /* mg_softsign_f32 */
    MG_FUNCTION_SWISH,            /* mg_swish_f32 */
    MG_FUNCTION_SCALED_ELU,       /* mg_scaled_elu_f32 */
    MG_FUNCTION_BOUNDED,          /* mg_bounded_f32 */
    MG_FUNCTION_HARD_SIGMOID,     /* mg_hard_sigmoid_f32 */
    MG_FUNCTION_SHRINK,           /* mg_shrink_f32 */
    MG_FUNCTION_THRESHOLDED_RELU, /* mg_thresholded_relu_f32 */
};

typedef struct {
    int32_t size; /* elements */
    float alpha;  /* any, also infinite */
    float beta;
    float gamma;
} mg_real_function_params;

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

/* 1 or -1; zeros and NaN as they are */
MG_INLINE float mg_f32_sign(float x)
{
    if (x > 0.0F) {
        return 1.0F;
    }
    return (x < 0.0F) ? -1.0F : x;
}

/* x / (1 + exp(-alpha x)) */
MG_INLINE float mg_f32_swish(const mg_real_function_params *p, float x)
{
    return x * mg_f32_sigmoid(p->alpha * x);
}

/* gamma x, or alpha (exp(x / beta) - 1) unless x is positive */
MG_INLINE float mg_f32_scaled_elu(const mg_real_function_params *p, float x)
{
    return (x > 0.0F) ? p->gamma * x : p->alpha * mg_f32_expm1(x / p->beta);
}

/* x, but at least alpha, and then at most beta */
MG_INLINE float mg_f32_bounded(const mg_real_function_params *p, float x)
{
    const float raised = (x < p->alpha) ? p->alpha : x;
    return (raised > p->beta) ? p->beta : raised;
}

/* alpha x + beta, clamped to [0, 1] */
MG_INLINE float mg_f32_hard_sigmoid(const mg_real_function_params *p, float x)
{
    return mg_clamp_f32(p->alpha * x + p->beta, 0.0F, 1.0F);
}

/* x without beta of its magnitude, or 0 if that is at most alpha */
MG_INLINE float mg_f32_shrink(const mg_real_function_params *p, float x)
{
    if (x < -p->alpha) {
        return x + p->beta;
    }
    return (x > p->alpha) ? x - p->beta : 0.0F;
}

/* x if it is more than alpha, else 0 */
MG_INLINE float mg_f32_thresholded_relu(const mg_real_function_params *p, float x)
{
    return (x > p->alpha) ? x : 0.0F;
}

/* One of the functions of x. It is a constant, so that only its code remains. */
MG_INLINE float mg_real_function_of(const mg_real_function_params *p, float x, int which)
{
    switch (which) {
    case MG_FUNCTION_ERF:
        return mg_f32_erf(x);
    case MG_FUNCTION_TAN:
        return mg_f32_tan(x);
    case MG_FUNCTION_ASIN:
        return mg_f32_asin(x);
    case MG_FUNCTION_ACOS:
        return mg_f32_acos(x);
    case MG_FUNCTION_ATAN:
        return mg_f32_atan(x);
    case MG_FUNCTION_SINH:
        return mg_f32_sinh(x);
    case MG_FUNCTION_COSH:
        return mg_f32_cosh(x);
    case MG_FUNCTION_ASINH:
        return mg_f32_asinh(x);
    case MG_FUNCTION_ACOSH:
        return mg_f32_acosh(x);
    case MG_FUNCTION_ATANH:
        return mg_f32_atanh(x);
    case MG_FUNCTION_SOFTPLUS:
        return mg_f32_softplus(x);
    case MG_FUNCTION_MISH:
        return mg_f32_mish(x);
    case MG_FUNCTION_GELU:
        return mg_f32_gelu(x);
    case MG_FUNCTION_GELU_TANH:
        return mg_f32_gelu_tanh(x);
    case MG_FUNCTION_RECIPROCAL:
        return 1.0F / x;
    case MG_FUNCTION_SIGN:
        return mg_f32_sign(x);
    case MG_FUNCTION_SOFTSIGN:
        return x / (1.0F + mg_f32_abs(x));
    case MG_FUNCTION_SWISH:
        return mg_f32_swish(p, x);
    case MG_FUNCTION_SCALED_ELU:
        return mg_f32_scaled_elu(p, x);
    case MG_FUNCTION_BOUNDED:
        return mg_f32_bounded(p, x);
    case MG_FUNCTION_HARD_SIGMOID:
        return mg_f32_hard_sigmoid(p, x);
    case MG_FUNCTION_SHRINK:
        return mg_f32_shrink(p, x);
    case MG_FUNCTION_THRESHOLDED_RELU:
        return mg_f32_thresholded_relu(p, x);
    default:
        return x;
    }
}

/* Computes a function of each value of input [size] into output [size]. Output may be the same
 * buffer as the input; otherwise they must not overlap. */
MG_INLINE void mg_real_function_body(const mg_real_function_params *p, const float *input,
                                     float *output, int which)
{
    for (int32_t i = 0; i < p->size; i++) {
        output[i] = mg_real_function_of(p, input[i], which);
    }
}

#define MG_REAL_FUNCTION_PROTOTYPE(name)                                                           \
    void name(const mg_real_function_params *p, const float *input, float *output)

#define MG_REAL_FUNCTION_KERNEL(name, which)                                                       \
    MG_REAL_FUNCTION_PROTOTYPE(name);                                                              \
    MG_REAL_FUNCTION_PROTOTYPE(name)                                                               \
    {                                                                                              \
        mg_real_function_body(p, input, output, which);                                            \
    }

#endif
