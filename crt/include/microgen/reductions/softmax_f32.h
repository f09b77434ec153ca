/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of float32 values, apart from kernels with other constants: some compilers keep the
 * constants of all functions of a source. */
#ifndef MICROGEN_SOFTMAX_F32_H
#define MICROGEN_SOFTMAX_F32_H

#include <float.h>

#include "microgen/arithmetic/float_math.h"
#include "microgen/reductions/each_row.h"

/* The largest of n values, limited to finite numbers. NaN is ignored. */
MG_INLINE float mg_row_maximum_f32(const float *values, int32_t n)
{
    float largest = -0x1.fffffep127F;

    for (int32_t i = 0; i < n; i++) {
        if (values[i] > largest) {
            largest = values[i];
        }
    }
    return largest;
}

typedef struct {
    int32_t outer_size; /* rows */
    int32_t depth;      /* elements of a row */
    float beta;         /* positive, finite */
} mg_softmax_f32_params;

MG_INLINE void mg_softmax_f32_row(const mg_softmax_f32_params *p, const float *input, float *output)
{
    const float largest = mg_row_maximum_f32(input, p->depth);
    mg_running_sum sum = {0.0F, 0.0F};

    for (int32_t i = 0; i < p->depth; i++) {
        output[i] = mg_f32_exp((input[i] - largest) * p->beta);
        sum = mg_running_sum_plus(sum, output[i]);
    }
    const float total = mg_running_sum_total(sum);
    for (int32_t i = 0; i < p->depth; i++) {
        output[i] /= total;
    }
}

/* Computes softmax of each row of input [outer_size][depth], exp(beta * x) / sum of exp(beta * x),
 * into output [outer_size][depth], which may be the same buffer; otherwise they must not
 * overlap. */
MG_EACH_ROW(mg_softmax_f32, float, float)

/* Computes softmax of `count` values, `step` apart, with the same operations as
 * mg_softmax_f32_row. */
MG_INLINE void mg_softmax_axis_f32_row(const float *input, float *output, int32_t count,
                                       int32_t step)
{
    float largest = -FLT_MAX;
    mg_running_sum sum = {0.0F, 0.0F};

    for (int32_t i = 0; i < count; i++) {
        largest = (input[i * step] > largest) ? input[i * step] : largest;
    }
    for (int32_t i = 0; i < count; i++) {
        output[i * step] = mg_f32_exp(input[i * step] - largest);
        sum = mg_running_sum_plus(sum, output[i * step]);
    }
    const float total = mg_running_sum_total(sum);
    for (int32_t i = 0; i < count; i++) {
        output[i * step] /= total;
    }
}

/* Computes softmax of input [outer][count][inner] over the middle axis into output of the same
 * shape. Output may be the same buffer as the input; otherwise they must not overlap. */
MG_INLINE void mg_softmax_axis_f32_body(int32_t outer, int32_t count, int32_t inner,
                                        const float *input, float *output)
{
    for (int32_t o = 0; o < outer; o++) {
        for (int32_t i = 0; i < inner; i++) {
            const int32_t first = o * count * inner + i;
            mg_softmax_axis_f32_row(&input[first], &output[first], count, inner);
        }
    }
}

#ifdef MG_SOFTMAX_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_softmax_f32, float, float)
#endif

#endif
