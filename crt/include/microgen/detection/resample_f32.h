/* SPDX-License-Identifier: Apache-2.0 */
/* Weighted sums of neighbouring values along an axis, for each new place on it. */
#ifndef MICROGEN_RESAMPLE_F32_H
#define MICROGEN_RESAMPLE_F32_H

#include "microgen/inline.h"

typedef struct {
    int32_t outer_size; /* product of the sizes of the axes before */
    int32_t axis_size;  /* of the input */
    int32_t inner_size; /* product of the sizes of the axes after */
    int32_t places;     /* size of the axis of the output */
    int32_t terms;      /* values that are added up for each place, 1 to axis_size */
} mg_resample_f32_params;

/* Computes output [outer_size][places][inner_size] from input [outer_size][axis_size][inner_size]:
 * at place n, values first[n] to first[n] + terms - 1, which must be inside the axis, times weights
 * [places][terms]. Output must not overlap the input. */
MG_EXTERN void mg_resample_f32(const mg_resample_f32_params *p, const float *input,
                               const int32_t *first, const float *weights, float *output);

MG_INLINE float mg_resample_f32_sum(const mg_resample_f32_params *p, const float *values,
                                    const float *weights)
{
    float sum = weights[0] * values[0];

    for (int32_t n = 1; n < p->terms; n++) {
        sum += weights[n] * values[n * p->inner_size];
    }
    return sum;
}

MG_INLINE void mg_resample_f32_body(const mg_resample_f32_params *p, const float *input,
                                    const int32_t *first, const float *weights, float *output)
{
    for (int32_t outer = 0; outer < p->outer_size; outer++) {
        for (int32_t n = 0; n < p->places; n++) {
            const float *values = &input[first[n] * p->inner_size];
            for (int32_t inner = 0; inner < p->inner_size; inner++) {
                *output++ = mg_resample_f32_sum(p, &values[inner], &weights[n * p->terms]);
            }
        }
        input += p->axis_size * p->inner_size;
    }
}

#ifdef MG_RESAMPLE_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_resample_f32, (p, input, first, weights, output), const mg_resample_f32_params *p,
               const float *input, const int32_t *first, const float *weights, float *output)
#endif

#endif
