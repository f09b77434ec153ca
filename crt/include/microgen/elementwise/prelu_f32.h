/* SPDX-License-Identifier: Apache-2.0 */
/* Parametric ReLU of float32 tensors: negative values are multiplied by a tensor. */
#ifndef MICROGEN_PRELU_F32_H
#define MICROGEN_PRELU_F32_H

#include <stdint.h>

#include "microgen/elementwise/broadcast.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t shape[4];      /* of the input and the output */
    int32_t lhs_stride[4]; /* of the input: elements between neighbouring indices */
    int32_t rhs_stride[4]; /* of alpha; 0: broadcast */
} mg_prelu_f32_params;

/* Copies input [shape[0]][shape[1]][shape[2]][shape[3]] to output of the same shape and multiplies
 * values below 0 by alpha. NaN remains NaN.
 *
 * Output may be the same buffer as an operand of the same shape and type; otherwise it must not
 * overlap an operand. */
void mg_prelu_f32(const mg_prelu_f32_params *p, const float *input, const float *alpha,
                  float *output);

/* The output value of one input value and its alpha. */
MG_INLINE float mg_prelu_f32_element(const mg_prelu_f32_params *p, float input, float alpha)
{
    (void)p;
    return (input >= 0.0F) ? input : input * alpha;
}

MG_INLINE void mg_prelu_f32_body(const mg_prelu_f32_params *p, const float *input,
                                 const float *alpha, float *output)
{
    MG_BROADCAST(mg_prelu_f32_element, p, input, alpha, output);
}

#ifdef MG_PRELU_F32_IMPLEMENTATION /* the out-of-line form */
void mg_prelu_f32(const mg_prelu_f32_params *p, const float *input, const float *alpha,
                  float *output)
{
    mg_prelu_f32_body(p, input, alpha, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
