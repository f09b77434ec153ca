/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, int16 with int8 weights, for MVE: four features at a time. */
#ifndef MICROGEN_DENSE_S16_MVE_H
#define MICROGEN_DENSE_S16_MVE_H

#include <stdint.h>

#include "microgen/blocks_s16_mve.h"
#include "microgen/dense_s16.h"
#include "microgen/dense_s16_store.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_dense_s16_params mg_dense_s16_mve_params;

/* Computes the same as mg_dense_s16. No sum of products may exceed int32. */
void mg_dense_s16_mve(const mg_dense_s16_mve_params *p, const int16_t *input, const int8_t *weight,
                      const int64_t *bias, const int64_t *significand, const int8_t *shift,
                      int16_t *output);

#if defined(__ARM_FEATURE_MVE)

MG_INLINE void mg_dense_s16_mve_body(const mg_dense_s16_mve_params *p, const int16_t *input,
                                     const int8_t *weight, const int64_t *bias,
                                     const int64_t *significand, const int8_t *shift,
                                     int16_t *output)
{
    const mg_dense_s16_scaling scaling = {bias,           significand,       shift,
                                          p->per_channel, p->activation_min, p->activation_max};
    const int32_t depth = p->input_features;

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t o = 0; o < p->output_features; o += MG_MVE_ROWS) {
            const int32_t left = p->output_features - o;
            const int8_t *first = &weight[o * depth];
            const int8_t *const filter[MG_MVE_ROWS] = {
                first,
                first + ((left > 1) ? depth : 0),
                first + ((left > 2) ? 2 * depth : 0),
                first + ((left > 3) ? 3 * depth : 0),
            };
            int32_t sums[MG_MVE_ROWS];
            vst1q_s32(sums, mg_mve_dot_filters_s16(&input[n * depth], filter, depth));
            for (int32_t i = 0; (i < MG_MVE_ROWS) && (i < left); i++) {
                mg_dense_s16_store(&scaling, o + i, sums[i], &output[n * p->output_features]);
            }
        }
    }
}

#ifdef MG_DENSE_S16_MVE_IMPLEMENTATION /* the out-of-line form */
void mg_dense_s16_mve(const mg_dense_s16_mve_params *p, const int16_t *input, const int8_t *weight,
                      const int64_t *bias, const int64_t *significand, const int8_t *shift,
                      int16_t *output)
{
    mg_dense_s16_mve_body(p, input, weight, bias, significand, shift, output);
}
#endif

#endif

#ifdef __cplusplus
}
#endif

#endif
