/* SPDX-License-Identifier: Apache-2.0 */
/* A fully connected layer, float32, for MVE with floats: 16 features at a time. */
#ifndef MICROGEN_DENSE_F32_MVE_H
#define MICROGEN_DENSE_F32_MVE_H

#include "microgen/blocks/blocks_f32_mve.h"
#include "microgen/dense/dense_f32.h"
#include "microgen/out_of_line.h"

typedef mg_dense_f32_params mg_dense_f32_mve_params;

/* Computes the same as mg_dense_f32_body, except that sums begin with the bias and products are
 * fused with additions. weight is in the order [blocks of 16 features][features of the input][16],
 * then, for the features that are left, in the order of microgen/blocks/blocks_f32_mve.h. */
MG_EXTERN void mg_dense_f32_mve(MG_ARGUMENTS_F32(mg_dense_f32_mve));

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)

/* Stores the outputs of features o to o + 3, as far as they exist. */
MG_INLINE void mg_dense_f32_mve_store(const mg_dense_f32_mve_params *p, int32_t o, float32x4_t sums,
                                      float *output)
{
    const mve_pred16_t active = vctp32q((uint32_t)(p->output_features - o));
    vstrwq_p_f32(&output[o], mg_mve_clamp_f32(sums, p->activation_min, p->activation_max), active);
}

/* The sums of features o to o + 3 before any product. */
MG_INLINE float32x4_t mg_dense_f32_mve_start(const mg_dense_f32_mve_params *p, const float *bias,
                                             int32_t o)
{
    return mg_mve_bias_f32(bias, o, vctp32q((uint32_t)(p->output_features - o)));
}

/* Computes one row. */
MG_INLINE void mg_dense_f32_mve_row(const mg_dense_f32_mve_params *p, const float *input,
                                    const float *weight, const float *bias, float *output)
{
    const int32_t depth = p->input_features;
    int32_t o = 0;

    for (; o + 4 * MG_MVE_FLOATS <= p->output_features; o += 4 * MG_MVE_FLOATS) {
        mg_mve_sums_f32 sums = {mg_dense_f32_mve_start(p, bias, o),
                                mg_dense_f32_mve_start(p, bias, o + MG_MVE_FLOATS),
                                mg_dense_f32_mve_start(p, bias, o + 2 * MG_MVE_FLOATS),
                                mg_dense_f32_mve_start(p, bias, o + 3 * MG_MVE_FLOATS)};
        sums = mg_mve_dot_wide_f32(sums, input, &weight[o * depth], depth);
        mg_dense_f32_mve_store(p, o, sums.p, output);
        mg_dense_f32_mve_store(p, o + MG_MVE_FLOATS, sums.q, output);
        mg_dense_f32_mve_store(p, o + 2 * MG_MVE_FLOATS, sums.r, output);
        mg_dense_f32_mve_store(p, o + 3 * MG_MVE_FLOATS, sums.s, output);
    }
    for (; o < p->output_features; o += MG_MVE_FLOATS) {
        const float32x4_t start = mg_dense_f32_mve_start(p, bias, o);
        mg_dense_f32_mve_store(p, o, mg_mve_dot_f32(start, input, &weight[o * depth], depth),
                               output);
    }
}

MG_INLINE void mg_dense_f32_mve_body(MG_ARGUMENTS_F32(mg_dense_f32_mve))
{
    for (int32_t n = 0; n < p->batches; n++) {
        mg_dense_f32_mve_row(p, &input[n * p->input_features], weight, bias,
                             &output[n * p->output_features]);
    }
}

#ifdef MG_DENSE_F32_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_dense_f32_mve, (p, input, weight, bias, output),
               MG_ARGUMENTS_F32(mg_dense_f32_mve))
#endif

#endif

#endif
