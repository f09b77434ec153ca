/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, int16 with int8 weights, for the DSP extension: four features at a time.
 */
#ifndef MICROGEN_DENSE_S16_DSP_H
#define MICROGEN_DENSE_S16_DSP_H

#include <stdint.h>

#include "microgen/blocks_s16.h"
#include "microgen/dense_s16_scaling.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_dense_s16_factor_params mg_dense_s16_dsp_params;

/* Multiplies input [batches][input_features] by the weights [output_features][input_features],
 * which are in the order of microgen/blocks_s16.h, into output [batches][output_features]. Factors
 * are those of microgen/dense_s16_scaling.h. No sum of products and bias may exceed int32. Output
 * must not overlap the input. */
void mg_dense_s16_dsp(const mg_dense_s16_dsp_params *p, const int16_t *input, const int32_t *weight,
                      const int32_t *bias, const int32_t *factor, int16_t *output);

/* The sums of output features o to o + 3, of which `count` exist. */
MG_INLINE mg_sums_1x4_s16 mg_dense_s16_dsp_four(const mg_dense_s16_dsp_params *p,
                                                const int16_t *row, const int32_t *weight,
                                                const mg_factors_s16 *factors, int32_t o,
                                                int32_t count)
{
    const int32_t fours = (p->input_features + 3) / 4;
    const int32_t step = (count > 2) ? 2 * fours : 0; /* there may be no second pair */
    return mg_dot_1x4_s16(mg_four_biases_s16(factors, o, count), row, &weight[o * fours], step,
                          p->input_features);
}

MG_INLINE void mg_dense_s16_dsp_body(const mg_dense_s16_dsp_params *p, const int16_t *input,
                                     const int32_t *weight, const int32_t *bias,
                                     const int32_t *factor, int16_t *output)
{
    const mg_factors_s16 factors = {bias, factor, p->per_channel, p->activation_min,
                                    p->activation_max};

    for (int32_t n = 0; n < p->batches; n++) {
        const int16_t *row = &input[n * p->input_features];
        for (int32_t o = 0; o < p->output_features; o += 4) {
            const int32_t count = p->output_features - o;
            mg_store_four_s16(&factors, o, count,
                              mg_dense_s16_dsp_four(p, row, weight, &factors, o, count),
                              &output[n * p->output_features]);
        }
    }
}

#ifdef MG_DENSE_S16_DSP_IMPLEMENTATION /* the out-of-line form */
void mg_dense_s16_dsp(const mg_dense_s16_dsp_params *p, const int16_t *input, const int32_t *weight,
                      const int32_t *bias, const int32_t *factor, int16_t *output)
{
    mg_dense_s16_dsp_body(p, input, weight, bias, factor, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
