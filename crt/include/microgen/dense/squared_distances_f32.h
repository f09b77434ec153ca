/* SPDX-License-Identifier: Apache-2.0 */
/* Squared Euclidean distances between rows of two matrices. */
#ifndef MICROGEN_SQUARED_DISTANCES_F32_H
#define MICROGEN_SQUARED_DISTANCES_F32_H

#include "microgen/inline.h"

typedef struct {
    int32_t rows;
    int32_t vectors;
    int32_t features; /* of each row and of each vector */
} mg_squared_distances_f32_params;

/* Computes output [rows][vectors]: the squared distance of each row of input [rows][features] from
 * each of vectors [vectors][features]. Output must not overlap an input. */
MG_EXTERN void mg_squared_distances_f32(const mg_squared_distances_f32_params *p,
                                        const float *input, const float *vectors, float *output);

MG_INLINE float mg_squared_distance(const float *row, const float *vector, int32_t features)
{
    float sum = 0.0F;

    for (int32_t n = 0; n < features; n++) {
        const float apart = row[n] - vector[n];
        sum += apart * apart;
    }
    return sum;
}

MG_INLINE void mg_squared_distances_f32_body(const mg_squared_distances_f32_params *p,
                                             const float *input, const float *vectors,
                                             float *output)
{
    for (int32_t row = 0; row < p->rows; row++) {
        for (int32_t n = 0; n < p->vectors; n++) {
            *output++ = mg_squared_distance(&input[row * p->features], &vectors[n * p->features],
                                            p->features);
        }
    }
}

#ifdef MG_SQUARED_DISTANCES_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_squared_distances_f32, (p, input, vectors, output),
               const mg_squared_distances_f32_params *p, const float *input, const float *vectors,
               float *output)
#endif

#endif
