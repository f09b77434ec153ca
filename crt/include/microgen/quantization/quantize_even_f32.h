/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of float32 to integers of any size, ties to even: ONNX's QuantizeLinear. */
#ifndef MICROGEN_QUANTIZE_EVEN_F32_H
#define MICROGEN_QUANTIZE_EVEN_F32_H

#include "microgen/requantization/in_float.h"
#include "microgen/requantization/stored_int.h"

typedef struct {
    int32_t size;         /* elements */
    int32_t output_bytes; /* 1, 2 or 4 */
    int32_t least;        /* of the output's type, which may be unsigned unless it has 4 bytes */
    int32_t greatest;     /* the same */
    int32_t zero_point;   /* of the output; 0 if it has 4 bytes */
    float scale;          /* of the output: positive, finite, not denormal */
} mg_quantize_even_f32_params;

/* Computes output [size] = round(input [size] / scale) + zero_point, saturated. Rounding is to
 * nearest, ties to even. NaN becomes the least value. Input and output must not overlap. */
MG_DECLARE_UNARY(mg_quantize_even_f32, float, void);

MG_INLINE void mg_quantize_even_f32_body(const mg_quantize_even_f32_params *p, const float *input,
                                         void *output)
{
    const int32_t largest = mg_greatest_int(p->output_bytes);

    for (int32_t i = 0; i < p->size; i++) {
        const int32_t stored =
            mg_stored_to_even(input[i] / p->scale, p->zero_point, p->least, p->greatest);
        /* An unsigned value has the bits of a signed one. */
        mg_store_int(output, i, p->output_bytes,
                     (stored > largest) ? stored - largest - largest - 2 : stored);
    }
}

#ifdef MG_QUANTIZE_EVEN_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_quantize_even_f32, float, void)
#endif

#endif
