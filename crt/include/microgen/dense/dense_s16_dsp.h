/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, int16 with int8 weights, for the DSP extension: four features at a time.
 */
#ifndef MICROGEN_DENSE_S16_DSP_H
#define MICROGEN_DENSE_S16_DSP_H

#include <stddef.h>

#include "microgen/dense/dense_factored_s16.h"
#include "microgen/out_of_line.h"

typedef mg_dense_s16_factor_params mg_dense_s16_dsp_params;

/* Multiplies input [batches][input_features] by the weights [output_features][input_features],
 * which are in the order of microgen/blocks/blocks_s16.h, into output [batches][output_features].
 * Factors are those of microgen/dense/dense_factored_s16.h. No sum of products and bias may exceed
 * int32. Output must not overlap the input. */
MG_EXTERN void mg_dense_s16_dsp(MG_ARGUMENTS_FACTORED(mg_dense_s16_dsp, int32_t));

MG_INLINE void mg_dense_s16_dsp_body(MG_ARGUMENTS_FACTORED(mg_dense_s16_dsp, int32_t))
{
    const mg_dense_s16_weights weights = {NULL, weight};
    mg_dense_s16_factored(p, input, weights, bias, factor, output);
}

#ifdef MG_DENSE_S16_DSP_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_dense_s16_dsp, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_dense_s16_dsp, int32_t))
#endif

#endif
