/* SPDX-License-Identifier: Apache-2.0 */
/* A layer factored in features and time (SVDF), int8, with the Arm DSP extension. */
#ifndef MICROGEN_SVDF_S8_DSP_H
#define MICROGEN_SVDF_S8_DSP_H

#include "microgen/recurrent/svdf_s8.h"

typedef mg_svdf_s8_params mg_svdf_s8_dsp_params;

/* Computes the same as mg_svdf_s8 with the same arguments. */
MG_EXTERN void mg_svdf_s8_dsp(const mg_svdf_s8_dsp_params *p, const int8_t *input, int16_t *state,
                              const int8_t *feature_weight, const int16_t *time_weight,
                              const int32_t *bias, int8_t *output);

MG_INLINE void mg_svdf_s8_dsp_body(const mg_svdf_s8_dsp_params *p, const int8_t *input,
                                   int16_t *state, const int8_t *feature_weight,
                                   const int16_t *time_weight, const int32_t *bias, int8_t *output)
{
    mg_svdf_s8_rows(p, input, state, feature_weight, time_weight, bias, output, 1);
}

#ifdef MG_SVDF_S8_DSP_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_svdf_s8_dsp, (p, input, state, feature_weight, time_weight, bias, output),
               const mg_svdf_s8_dsp_params *p, const int8_t *input, int16_t *state,
               const int8_t *feature_weight, const int16_t *time_weight, const int32_t *bias,
               int8_t *output)
#endif

#endif
