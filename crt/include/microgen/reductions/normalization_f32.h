/* SPDX-License-Identifier: Apache-2.0 */
/* The logarithm of softmax, and the division by the Euclidean length, for rows of float32. Output
 * may be the same buffer as the input; otherwise they must not overlap. */
#ifndef MICROGEN_NORMALIZATION_F32_H
#define MICROGEN_NORMALIZATION_F32_H

#include "microgen/reductions/softmax_f32.h"

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
 * [outer_size][depth]. */
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
 * [outer_size][depth]. A row whose sum of squares exceeds float32 becomes 0. */
MG_EACH_ROW(mg_l2_normalize_f32, float, float)

#ifdef MG_NORMALIZATION_F32_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_log_softmax_f32, float, float)
MG_DEFINE_UNARY(mg_l2_normalize_f32, float, float)
#endif

#endif
