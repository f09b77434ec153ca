/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax over the last axis of float32 tensors. */
#ifndef MICROGEN_SOFTMAX_F32_H
#define MICROGEN_SOFTMAX_F32_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/reductions/each_row.h"
#include "microgen/reductions/row_maximum_f32.h"
#include "microgen/reductions/running_sum_f32.h"

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
 * into output [outer_size][depth].
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ROW(mg_softmax_f32, float, float)

#ifdef MG_SOFTMAX_F32_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_softmax_f32, float, float)
#endif

#endif
