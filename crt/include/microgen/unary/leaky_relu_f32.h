/* SPDX-License-Identifier: Apache-2.0 */
/* Leaky ReLU of float32 values. */
#ifndef MICROGEN_LEAKY_RELU_F32_H
#define MICROGEN_LEAKY_RELU_F32_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/unary/unary.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t size; /* elements */
    float alpha;  /* any */
} mg_leaky_relu_f32_params;

/* Copies input [size] to output [size] and multiplies values that are not greater than 0 by alpha.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
void mg_leaky_relu_f32(const mg_leaky_relu_f32_params *p, const float *input, float *output);

MG_INLINE float mg_leaky_relu_f32_element(const mg_leaky_relu_f32_params *p, float x)
{
    return (x > 0.0F) ? x : x * p->alpha;
}

MG_INLINE void mg_leaky_relu_f32_body(const mg_leaky_relu_f32_params *p, const float *input,
                                      float *output)
{
    MG_UNARY(mg_leaky_relu_f32_element, p, input, output);
}

#ifdef MG_LEAKY_RELU_F32_IMPLEMENTATION /* the out-of-line form */
void mg_leaky_relu_f32(const mg_leaky_relu_f32_params *p, const float *input, float *output)
{
    mg_leaky_relu_f32_body(p, input, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
