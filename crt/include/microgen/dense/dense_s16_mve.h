/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, int16 with int8 weights, for MVE: four features at a time. */
#ifndef MICROGEN_DENSE_S16_MVE_H
#define MICROGEN_DENSE_S16_MVE_H

#include <stddef.h>

#include "microgen/dense/dense_factored_s16.h"
#include "microgen/out_of_line.h"

typedef mg_dense_s16_factor_params mg_dense_s16_mve_params;

/* Computes the same as mg_dense_s16_dsp, with weight [output_features][input_features]. */
MG_EXTERN void mg_dense_s16_mve(MG_ARGUMENTS_FACTORED(mg_dense_s16_mve, int8_t));

#if defined(__ARM_FEATURE_MVE)

MG_INLINE void mg_dense_s16_mve_body(MG_ARGUMENTS_FACTORED(mg_dense_s16_mve, int8_t))
{
    const mg_dense_s16_weights weights = {weight, NULL};
    mg_dense_s16_factored(p, input, weights, bias, factor, output);
}

#ifdef MG_DENSE_S16_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_dense_s16_mve, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_dense_s16_mve, int8_t))
#endif

#endif

#endif
