/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, int16 with int8 weights, for the DSP extension: four features at a time.
 */
#ifndef MICROGEN_DENSE_S16_DSP_H
#define MICROGEN_DENSE_S16_DSP_H

#include <stddef.h>
#include <stdint.h>

#include "microgen/dense/dense_factored_s16.h"
#include "microgen/inline.h"

typedef mg_dense_s16_factor_params mg_dense_s16_dsp_params;

/* Multiplies input [batches][input_features] by the weights [output_features][input_features],
 * which are in the order of microgen/blocks/blocks_s16.h, into output [batches][output_features].
 * Factors are those of microgen/dense/dense_factored_s16.h. No sum of products and bias may exceed
 * int32. Output must not overlap the input. */
MG_EXTERN void mg_dense_s16_dsp(const mg_dense_s16_dsp_params *p, const int16_t *input,
                                const int32_t *weight, const int32_t *bias, const int32_t *factor,
                                int16_t *output);

MG_INLINE void mg_dense_s16_dsp_body(const mg_dense_s16_dsp_params *p, const int16_t *input,
                                     const int32_t *weight, const int32_t *bias,
                                     const int32_t *factor, int16_t *output)
{
    const mg_dense_s16_weights weights = {NULL, weight};
    mg_dense_s16_factored(p, input, weights, bias, factor, output);
}

#ifdef MG_DENSE_S16_DSP_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_dense_s16_dsp, (p, input, weight, bias, factor, output),
               const mg_dense_s16_dsp_params *p, const int16_t *input, const int32_t *weight,
               const int32_t *bias, const int32_t *factor, int16_t *output)
#endif

#endif
