/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, int16 with int8 weights, with sums scaled in fixed point. */
#ifndef MICROGEN_DENSE_S16_FIXED_H
#define MICROGEN_DENSE_S16_FIXED_H

#include "microgen/blocks/sums_s16.h"
#include "microgen/dense/dense.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/requantize_s16.h"

typedef struct {
    MG_DENSE_SIZES
    int32_t rounding;       /* MG_ROUND_DOUBLE or MG_ROUND_REDUCED */
    int32_t activation_min; /* -32768 to 32767 */
    int32_t activation_max; /* activation_min to 32767 */
} mg_dense_s16_fixed_params;

/* Multiplies input [batches][input_features] by weight [output_features][input_features] into
 * output [batches][output_features].
 *
 * bias [output_features] may be NULL. multiplier and shift have output_features elements;
 * microgen/requantization/requantize_s16.h describes them. Output must not overlap the input. The
 * magnitude of every sum of bias and products must be below 2^47. */
MG_EXTERN void mg_dense_s16_fixed(MG_ARGUMENTS_S16(mg_dense_s16_fixed));

/* Computes output [output_features] of one row of the input. */
MG_INLINE void mg_dense_s16_fixed_row(const mg_dense_s16_fixed_params *p, const int16_t *row,
                                      const int8_t *weight, const mg_scaling_s16 *scaling,
                                      int16_t *output)
{
    const int32_t n = p->input_features;
    const int8_t *unit = weight;
    int32_t o = 0;

    for (; o + 4 <= p->output_features; o += 4) {
        const mg_sums_s16 none = {0, 0, 0, 0};
        mg_store_4_s16(scaling, o, mg_dot_4_s16(none, row, unit, n, n), output);
        unit += 4 * n;
    }
    for (; o < p->output_features; o++) {
        output[o] = mg_scaled_s16(scaling, o, mg_dot_s16(0, row, unit, n));
        unit += n;
    }
}

MG_INLINE void mg_dense_s16_fixed_body(MG_ARGUMENTS_S16(mg_dense_s16_fixed))
{
    const mg_scaling_s16 scaling = {bias,        multiplier,        shift,
                                    p->rounding, p->activation_min, p->activation_max};
    const int16_t *row = input;
    int16_t *outputs = output;

    for (int32_t n = 0; n < p->batches; n++) {
        mg_dense_s16_fixed_row(p, row, weight, &scaling, outputs);
        row += p->input_features;
        outputs += p->output_features;
    }
}

#ifdef MG_DENSE_S16_FIXED_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_dense_s16_fixed, (p, input, weight, bias, multiplier, shift, output),
               MG_ARGUMENTS_S16(mg_dense_s16_fixed))
#endif

#endif
