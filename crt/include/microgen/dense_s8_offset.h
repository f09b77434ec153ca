/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8 with int32 accumulators, of weights with a zero point. */
#ifndef MICROGEN_DENSE_S8_OFFSET_H
#define MICROGEN_DENSE_S8_OFFSET_H

#include <stddef.h>
#include <stdint.h>

#include "microgen/dense_s8.h"
#include "microgen/inline.h"
#include "microgen/requantize.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    mg_dense_s8_params dense;
    int32_t weight_offset; /* minus the weight's zero point: -127 to 128 */
} mg_dense_s8_offset_params;

/* Computes the same as mg_dense_s8 with the same arguments, but with weight + weight_offset instead
 * of weight. */
void mg_dense_s8_offset(const mg_dense_s8_offset_params *p, const int8_t *input,
                        const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                        const int8_t *shift, int8_t *output);

MG_INLINE void mg_dense_s8_offset_body(const mg_dense_s8_offset_params *p, const int8_t *input,
                                       const int8_t *weight, const int32_t *bias,
                                       const int32_t *multiplier, const int8_t *shift,
                                       int8_t *output)
{
    const mg_dense_s8_params *q = &p->dense;

    for (int32_t n = 0; n < q->batches; n++) {
        for (int32_t o = 0; o < q->output_features; o++) {
            const int32_t channel = (q->per_channel != 0) ? o : 0;
            int32_t sum = (bias != NULL) ? bias[o] : 0;
            int32_t scaled = 0;

            for (int32_t i = 0; i < q->input_features; i++) {
                sum += (input[n * q->input_features + i] + q->input_offset) *
                       (weight[o * q->input_features + i] + p->weight_offset);
            }
            if (q->single_rounding != 0) {
                scaled = mg_requantize_single(sum, multiplier[channel], shift[channel]);
            } else {
                scaled = mg_requantize(sum, multiplier[channel], shift[channel]);
            }
            output[n * q->output_features + o] =
                mg_offset_and_clamp(scaled, q->output_offset, q->activation_min, q->activation_max);
        }
    }
}

#ifdef MG_DENSE_S8_OFFSET_IMPLEMENTATION /* the out-of-line form */
void mg_dense_s8_offset(const mg_dense_s8_offset_params *p, const int8_t *input,
                        const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                        const int8_t *shift, int8_t *output)
{
    mg_dense_s8_offset_body(p, input, weight, bias, multiplier, shift, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
