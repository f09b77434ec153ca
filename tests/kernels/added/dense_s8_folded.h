/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8, whose biases have the input's zero point folded in. */
#ifndef MICROGEN_DENSE_S8_FOLDED_H
#define MICROGEN_DENSE_S8_FOLDED_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    int32_t input_features;
    int32_t output_features;
    int32_t output_offset;
    int32_t activation_min;
    int32_t activation_max;
} mg_dense_s8_folded_params;

/* One row of input [input_features] times weight [output_features][input_features]. folded
 * [output_features] is the bias minus the input's zero point times the sum of the weights. There is
 * one multiplier and one shift. */
void mg_dense_s8_folded(const mg_dense_s8_folded_params *p, const int8_t *input,
                        const int8_t *weight, const int32_t *folded, const int32_t *multiplier,
                        const int8_t *shift, int8_t *output);

MG_INLINE void mg_dense_s8_folded_body(const mg_dense_s8_folded_params *p, const int8_t *input,
                                       const int8_t *weight, const int32_t *folded,
                                       const int32_t *multiplier, const int8_t *shift,
                                       int8_t *output)
{
    for (int32_t o = 0; o < p->output_features; o++) {
        int32_t sum = folded[o];
        for (int32_t i = 0; i < p->input_features; i++) {
            sum += input[i] * weight[o * p->input_features + i];
        }
        output[o] = mg_offset_and_clamp(mg_requantize_single(sum, multiplier[0], shift[0]),
                                        p->output_offset, p->activation_min, p->activation_max);
    }
}

#ifdef MG_DENSE_S8_FOLDED_IMPLEMENTATION /* the out-of-line form */
void mg_dense_s8_folded(const mg_dense_s8_folded_params *p, const int8_t *input,
                        const int8_t *weight, const int32_t *folded, const int32_t *multiplier,
                        const int8_t *shift, int8_t *output)
{
    mg_dense_s8_folded_body(p, input, weight, folded, multiplier, shift, output);
}
#endif

#endif
