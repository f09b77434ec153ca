/* SPDX-License-Identifier: Apache-2.0 */
/* Parametric ReLU of float32 tensors: negative values are multiplied by a tensor. */
#ifndef MICROGEN_PRELU_F32_H
#define MICROGEN_PRELU_F32_H

#include "microgen/elementwise/broadcast.h"

typedef struct {
    /* lhs is the input, and rhs is alpha. */
    MG_BROADCAST_SHAPES
} mg_prelu_f32_params;

/* The output value of one input value and its alpha. */
MG_INLINE float mg_prelu_f32_element(const mg_prelu_f32_params *p, float input, float alpha)
{
    (void)p;
    return (input >= 0.0F) ? input : input * alpha;
}

/* Copies input [shape[0]][shape[1]][shape[2]][shape[3]] to output of the same shape and multiplies
 * values below 0 by alpha. NaN remains NaN.
 *
 * Output may be the same buffer as an operand of the same shape and type; otherwise it must not
 * overlap an operand. */
MG_EACH_PAIR(mg_prelu_f32, float, float, float)

#ifdef MG_PRELU_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_prelu_f32, (p, input, alpha, output), const mg_prelu_f32_params *p,
               const float *input, const float *alpha, float *output)
#endif

#endif
