/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, int16 with int8 weights, for the DSP extension: four features at a time.
 */
#ifndef MICROGEN_DENSE_S16_DSP_H
#define MICROGEN_DENSE_S16_DSP_H

#include <stdint.h>

#include "microgen/blocks_s16.h"
#include "microgen/dense_s16.h"
#include "microgen/dense_s16_store.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_dense_s16_params mg_dense_s16_dsp_params;

/* Computes the same as mg_dense_s16 for a multiple of four input features. weight is in the order
 * of microgen/blocks_s16.h. No sum of products may exceed int32. */
void mg_dense_s16_dsp(const mg_dense_s16_dsp_params *p, const int16_t *input, const int32_t *weight,
                      const int64_t *bias, const int64_t *significand, const int8_t *shift,
                      int16_t *output);

/* Computes output features o to o + 3, of which `count` exist, of one row. */
MG_INLINE void mg_dense_s16_dsp_four(const mg_dense_s16_dsp_params *p, const int16_t *row,
                                     const int32_t *weight, const mg_dense_s16_scaling *scaling,
                                     int32_t o, int32_t count, int16_t *output)
{
    const int32_t fours = p->input_features / 4;
    const int32_t step = (count > 2) ? 2 * fours : 0; /* there may be no second pair */
    const mg_sums_1x4_s16 sums = mg_dot_1x4_s16(row, &weight[o * fours], step, fours);

    const int32_t found[4] = {sums.a, sums.b, sums.c, sums.d};

    for (int32_t i = 0; (i < 4) && (i < count); i++) {
        mg_dense_s16_store(scaling, o + i, found[i], output);
    }
}

MG_INLINE void mg_dense_s16_dsp_body(const mg_dense_s16_dsp_params *p, const int16_t *input,
                                     const int32_t *weight, const int64_t *bias,
                                     const int64_t *significand, const int8_t *shift,
                                     int16_t *output)
{
    const mg_dense_s16_scaling scaling = {bias,           significand,       shift,
                                          p->per_channel, p->activation_min, p->activation_max};

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t o = 0; o < p->output_features; o += 4) {
            mg_dense_s16_dsp_four(p, &input[n * p->input_features], weight, &scaling, o,
                                  p->output_features - o, &output[n * p->output_features]);
        }
    }
}

#ifdef MG_DENSE_S16_DSP_IMPLEMENTATION /* the out-of-line form */
void mg_dense_s16_dsp(const mg_dense_s16_dsp_params *p, const int16_t *input, const int32_t *weight,
                      const int64_t *bias, const int64_t *significand, const int8_t *shift,
                      int16_t *output)
{
    mg_dense_s16_dsp_body(p, input, weight, bias, significand, shift, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
