/* SPDX-License-Identifier: Apache-2.0 */
/* Leaky ReLU of float32 values. */
#ifndef MICROGEN_LEAKY_RELU_F32_H
#define MICROGEN_LEAKY_RELU_F32_H

#include "microgen/unary/unary.h"

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

#ifdef MG_LEAKY_RELU_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_leaky_relu_f32, float, float)
#endif

#endif
