/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, int16 with int8 weights and int64 accumulators. */
#ifndef MICROGEN_DENSE_S16_H
#define MICROGEN_DENSE_S16_H

#include <stddef.h>

#include "microgen/blocks/sums_s16.h"
#include "microgen/dense/dense.h"
#include "microgen/requantization/requantize_s16.h"

typedef struct {
    MG_DENSE_SIZES
    int32_t per_channel;    /* 1: one significand and shift per output feature; 0: one of each */
    int32_t activation_min; /* -32768 to 32767 */
    int32_t activation_max; /* activation_min to 32767 */
} mg_dense_s16_params;

/* Multiplies input [batches][input_features] by weight [output_features][input_features] into
 * output [batches][output_features].
 *
 * bias [output_features] may be NULL. significand and shift have output_features elements if
 * per_channel is 1, otherwise one; mg_requantize_real describes them and the rounding. Output must
 * not overlap the input. The magnitude of every sum of bias and products must be below 2^47, and
 * the scaled sum must fit int32. */
MG_EXTERN void mg_dense_s16(const mg_dense_s16_params *p, const int16_t *input,
                            const int8_t *weight, const int64_t *bias, const int64_t *significand,
                            const int8_t *shift, int16_t *output);

/* How sums of products become outputs. */
typedef struct {
    const int64_t *bias; /* or NULL */
    const int64_t *significand;
    const int8_t *shift;
    int32_t per_channel;
    int32_t activation_min;
    int32_t activation_max;
} mg_dense_s16_scaling;

/* Output feature o of one row. */
MG_INLINE int16_t mg_dense_s16_scaled(const mg_dense_s16_scaling *s, int32_t o, int64_t sum)
{
    const int32_t channel = (s->per_channel != 0) ? o : 0;
    const int64_t total = sum + ((s->bias != NULL) ? s->bias[o] : 0);
    return mg_clamp_s16(mg_requantize_real(total, s->significand[channel], s->shift[channel]),
                        s->activation_min, s->activation_max);
}

/* Computes output [output_features] of one row of the input. */
MG_INLINE void mg_dense_s16_row(const mg_dense_s16_params *p, const int16_t *row,
                                const int8_t *weight, const mg_dense_s16_scaling *scaling,
                                int16_t *output)
{
    const int32_t n = p->input_features;
    const int32_t whole = p->output_features - p->output_features % 4;

    for (int32_t o = 0; o < whole; o += 4) {
        const mg_sums_s16 none = {0, 0, 0, 0};
        const mg_sums_s16 sums = mg_dot_4_s16(none, row, &weight[o * n], n, n);
        output[o] = mg_dense_s16_scaled(scaling, o, sums.a);
        output[o + 1] = mg_dense_s16_scaled(scaling, o + 1, sums.b);
        output[o + 2] = mg_dense_s16_scaled(scaling, o + 2, sums.c);
        output[o + 3] = mg_dense_s16_scaled(scaling, o + 3, sums.d);
    }
    for (int32_t o = whole; o < p->output_features; o++) {
        output[o] = mg_dense_s16_scaled(scaling, o, mg_dot_s16(0, row, &weight[o * n], n));
    }
}

MG_INLINE void mg_dense_s16_body(const mg_dense_s16_params *p, const int16_t *input,
                                 const int8_t *weight, const int64_t *bias,
                                 const int64_t *significand, const int8_t *shift, int16_t *output)
{
    const mg_dense_s16_scaling scaling = {bias,           significand,       shift,
                                          p->per_channel, p->activation_min, p->activation_max};

    for (int32_t n = 0; n < p->batches; n++) {
        mg_dense_s16_row(p, &input[n * p->input_features], weight, &scaling,
                         &output[n * p->output_features]);
    }
}

#ifdef MG_DENSE_S16_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_dense_s16, (p, input, weight, bias, significand, shift, output),
               const mg_dense_s16_params *p, const int16_t *input, const int8_t *weight,
               const int64_t *bias, const int64_t *significand, const int8_t *shift,
               int16_t *output)
#endif

#endif
