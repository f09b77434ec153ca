/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, int16 with int8 weights, for MVE: four features at a time. */
#ifndef MICROGEN_DENSE_S16_MVE_H
#define MICROGEN_DENSE_S16_MVE_H

#include <stdint.h>

#include "microgen/blocks_s16_mve.h"
#include "microgen/dense_s16_scaling.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_dense_s16_factor_params mg_dense_s16_mve_params;

/* Computes the same as mg_dense_s16_dsp, with weight [output_features][input_features]. */
void mg_dense_s16_mve(const mg_dense_s16_mve_params *p, const int16_t *input, const int8_t *weight,
                      const int32_t *bias, const int32_t *factor, int16_t *output);

#if defined(__ARM_FEATURE_MVE)

/* The sums of output features o to o + 3, of which `count` exist. */
MG_INLINE mg_sums_1x4_s16 mg_dense_s16_mve_four(const mg_dense_s16_mve_params *p,
                                                const int16_t *row, const int8_t *weight,
                                                const mg_factors_s16 *factors, int32_t o,
                                                int32_t count)
{
    const int32_t depth = p->input_features;
    const int8_t *filter = &weight[o * depth];
    return mg_mve_dot_1x4_s16(
        mg_four_biases_s16(factors, o, count), row, filter, filter + ((count > 1) ? depth : 0),
        filter + ((count > 2) ? 2 * depth : 0), filter + ((count > 3) ? 3 * depth : 0), depth);
}

MG_INLINE void mg_dense_s16_mve_body(const mg_dense_s16_mve_params *p, const int16_t *input,
                                     const int8_t *weight, const int32_t *bias,
                                     const int32_t *factor, int16_t *output)
{
    const mg_factors_s16 factors = {bias, factor, p->per_channel, p->activation_min,
                                    p->activation_max};

    for (int32_t n = 0; n < p->batches; n++) {
        const int16_t *row = &input[n * p->input_features];
        for (int32_t o = 0; o < p->output_features; o += 4) {
            const int32_t count = p->output_features - o;
            mg_store_four_s16(&factors, o, count,
                              mg_dense_s16_mve_four(p, row, weight, &factors, o, count),
                              &output[n * p->output_features]);
        }
    }
}

#ifdef MG_DENSE_S16_MVE_IMPLEMENTATION /* the out-of-line form */
void mg_dense_s16_mve(const mg_dense_s16_mve_params *p, const int16_t *input, const int8_t *weight,
                      const int32_t *bias, const int32_t *factor, int16_t *output)
{
    mg_dense_s16_mve_body(p, input, weight, bias, factor, output);
}
#endif

#endif

#ifdef __cplusplus
}
#endif

#endif
