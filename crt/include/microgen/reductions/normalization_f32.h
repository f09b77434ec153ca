/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, its logarithm and the division by the Euclidean length, for rows of float32. */
#ifndef MICROGEN_NORMALIZATION_F32_H
#define MICROGEN_NORMALIZATION_F32_H

#include <float.h>

#include "microgen/arithmetic/float_math.h"
#include "microgen/reductions/each_row.h"
#include "microgen/reductions/running_sum_f32.h"

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
 * into output [outer_size][depth].
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ROW(mg_softmax_f32, float, float)

typedef struct {
    int32_t outer_size; /* rows */
    int32_t depth;      /* elements of a row */
} mg_log_softmax_f32_params;

MG_INLINE void mg_log_softmax_f32_row(const mg_log_softmax_f32_params *p, const float *input,
                                      float *output)
{
    const float largest = mg_row_maximum_f32(input, p->depth);
    mg_running_sum sum = {0.0F, 0.0F};

    for (int32_t i = 0; i < p->depth; i++) {
        sum = mg_running_sum_plus(sum, mg_f32_exp(input[i] - largest));
    }
    const float log_sum = mg_f32_log(mg_running_sum_total(sum));
    for (int32_t i = 0; i < p->depth; i++) {
        output[i] = input[i] - largest - log_sum;
    }
}

/* Computes log(softmax(row)) for each row of input [outer_size][depth] into output
 * [outer_size][depth].
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ROW(mg_log_softmax_f32, float, float)

typedef struct {
    int32_t outer_size; /* rows */
    int32_t depth;      /* elements of a row */
    float least_length; /* positive; shorter rows are divided by this */
} mg_l2_normalize_f32_params;

MG_INLINE void mg_l2_normalize_f32_row(const mg_l2_normalize_f32_params *p, const float *input,
                                       float *output)
{
    mg_running_sum squares = {0.0F, 0.0F};

    for (int32_t i = 0; i < p->depth; i++) {
        squares = mg_running_sum_plus(squares, input[i] * input[i]);
    }
    const float length = mg_f32_sqrt(mg_running_sum_total(squares));
    const float divisor = (length < p->least_length) ? p->least_length : length;
    for (int32_t i = 0; i < p->depth; i++) {
        output[i] = input[i] / divisor;
    }
}

/* Divides each row of input [outer_size][depth] by its Euclidean length into output
 * [outer_size][depth]. A row whose sum of squares exceeds float32 becomes 0.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ROW(mg_l2_normalize_f32, float, float)

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

#ifdef MG_NORMALIZATION_F32_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_softmax_f32, float, float)
MG_DEFINE_UNARY(mg_log_softmax_f32, float, float)
MG_DEFINE_UNARY(mg_l2_normalize_f32, float, float)
#endif

#endif
