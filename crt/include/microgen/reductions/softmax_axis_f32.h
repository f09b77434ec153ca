/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax of float32 tensors over any axis. */
#ifndef MICROGEN_SOFTMAX_AXIS_F32_H
#define MICROGEN_SOFTMAX_AXIS_F32_H

#include <float.h>

#include "microgen/arithmetic/float_math.h"
#include "microgen/reductions/running_sum_f32.h"

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

#endif
