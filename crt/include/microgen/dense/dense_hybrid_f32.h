/* SPDX-License-Identifier: Apache-2.0 */
/* A hybrid fully connected layer: float32 with int8 weights, computed in integers. */
#ifndef MICROGEN_DENSE_HYBRID_F32_H
#define MICROGEN_DENSE_HYBRID_F32_H

#include "microgen/blocks/hybrid.h"
#include "microgen/dense/dense.h"
#include "microgen/out_of_line.h"

typedef struct {
    MG_DENSE_SIZES
    int32_t asymmetric;   /* 1: rows are quantized with a zero point */
    int32_t per_channel;  /* 1: one scale per output feature; 0: one for all */
    float activation_min; /* finite */
    float activation_max; /* finite, activation_min or more */
} mg_dense_hybrid_f32_params;

/* Multiplies input [batches][input_features], each row quantized to int8, by weight
 * [output_features][input_features] into output [batches][output_features].
 *
 * bias [output_features] may be NULL. scale contains the weight's scales: output_features elements
 * if per_channel is 1, otherwise one. scratch must have input_features bytes. Output must not
 * overlap the input. Sums of products must fit int32, partial sums included. */
MG_EXTERN void mg_dense_hybrid_f32(MG_ARGUMENTS_HYBRID(mg_dense_hybrid_f32));

/* Computes output [output_features] of one row. */
MG_INLINE void mg_dense_hybrid_f32_row(const mg_dense_hybrid_f32_params *p,
                                       const mg_finish_hybrid *finish, mg_hybrid meaning,
                                       const int8_t *row, const int8_t *weight, float *output)
{
    const int32_t n = p->input_features;
    const int32_t whole = p->output_features - p->output_features % 4;

    for (int32_t o = 0; o < whole; o += 4) {
        const mg_sums_hybrid none = {0, 0, 0, 0};
        const mg_sums_hybrid sums =
            mg_dot_4_hybrid(none, row, meaning.offset, &weight[o * n], n, n);
        output[o] = mg_finished_hybrid(finish, o, meaning.scale, sums.a);
        output[o + 1] = mg_finished_hybrid(finish, o + 1, meaning.scale, sums.b);
        output[o + 2] = mg_finished_hybrid(finish, o + 2, meaning.scale, sums.c);
        output[o + 3] = mg_finished_hybrid(finish, o + 3, meaning.scale, sums.d);
    }
    for (int32_t o = whole; o < p->output_features; o++) {
        output[o] = mg_finished_hybrid(finish, o, meaning.scale,
                                       mg_dot_hybrid(0, row, meaning.offset, &weight[o * n], n));
    }
}

MG_INLINE void mg_dense_hybrid_f32_body(MG_ARGUMENTS_HYBRID(mg_dense_hybrid_f32))
{
    const mg_finish_hybrid finish = {bias, scale, p->per_channel, p->activation_min,
                                     p->activation_max};
    int8_t *row = (int8_t *)scratch;

    for (int32_t n = 0; n < p->batches; n++) {
        const mg_hybrid meaning = mg_quantize_hybrid(&input[n * p->input_features],
                                                     p->input_features, p->asymmetric, row);
        mg_dense_hybrid_f32_row(p, &finish, meaning, row, weight, &output[n * p->output_features]);
    }
}

#ifdef MG_DENSE_HYBRID_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_dense_hybrid_f32, (p, input, weight, bias, scale, output, scratch),
               MG_ARGUMENTS_HYBRID(mg_dense_hybrid_f32))
#endif

#endif
