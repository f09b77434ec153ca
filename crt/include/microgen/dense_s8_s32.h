/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8, with int32 outputs: the accumulators. */
#ifndef MICROGEN_DENSE_S8_S32_H
#define MICROGEN_DENSE_S8_S32_H

#include <stdint.h>

#include "microgen/blocks_s8.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t batches;
    int32_t input_features;
    int32_t output_features;
    int32_t input_offset; /* minus the input's zero point: -127 to 128 */
} mg_dense_s8_s32_params;

/* Multiplies input [batches][input_features] by weight [output_features][input_features] into
 * output [batches][output_features]. bias [output_features] may be NULL. The sum of bias and
 * products must fit int32, partial sums included. Output must not overlap the input. */
void mg_dense_s8_s32(const mg_dense_s8_s32_params *p, const int8_t *input, const int8_t *weight,
                     const int32_t *bias, int32_t *output);

MG_INLINE void mg_dense_s8_s32_body(const mg_dense_s8_s32_params *p, const int8_t *input,
                                    const int8_t *weight, const int32_t *bias, int32_t *output)
{
    const int32_t depth = p->input_features;

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t c = 0; c < p->output_features; c++) {
            output[n * p->output_features + c] = mg_dot(mg_bias(bias, c), &input[n * depth],
                                                        &weight[c * depth], depth, p->input_offset);
        }
    }
}

#ifdef MG_DENSE_S8_S32_IMPLEMENTATION /* the out-of-line form */
void mg_dense_s8_s32(const mg_dense_s8_s32_params *p, const int8_t *input, const int8_t *weight,
                     const int32_t *bias, int32_t *output)
{
    mg_dense_s8_s32_body(p, input, weight, bias, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
