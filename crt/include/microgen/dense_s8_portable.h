/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8, four output channels at a time, in plain C. */
#ifndef MICROGEN_DENSE_S8_PORTABLE_H
#define MICROGEN_DENSE_S8_PORTABLE_H

#include <stdint.h>

#include "microgen/blocks_s8.h"
#include "microgen/dense_s8.h"
#include "microgen/inline.h"
#include "microgen/requantize.h"
#include "microgen/requantize_once.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_dense_s8_params mg_dense_s8_portable_params;

/* Computes the same as mg_dense_s8 with the same arguments. */
void mg_dense_s8_portable(const mg_dense_s8_portable_params *p, const int8_t *input,
                          const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                          const int8_t *shift, int8_t *output);

/* The output of channel c. If `upward`, which is a constant after inlining, it is rounded once,
 * ties upwards. */
MG_INLINE int8_t mg_dense_s8_scaled(const mg_dense_s8_params *p, int32_t c, int32_t sum,
                                    const int32_t *multiplier, const int8_t *shift, int upward)
{
    const int32_t channel = (p->per_channel != 0) ? c : 0;
    int32_t scaled = 0;

    if (upward != 0) {
        scaled = mg_requantize_upward(sum, multiplier[channel], shift[channel]);
    } else if (p->single_rounding != 0) {
        scaled = mg_requantize_single(sum, multiplier[channel], shift[channel]);
    } else {
        scaled = mg_requantize(sum, multiplier[channel], shift[channel]);
    }
    return mg_offset_and_clamp(scaled, p->output_offset, p->activation_min, p->activation_max);
}

MG_INLINE void mg_dense_s8_blocks(const mg_dense_s8_params *p, const int8_t *input,
                                  const int8_t *weight, const int32_t *bias,
                                  const int32_t *multiplier, const int8_t *shift, int8_t *output,
                                  int dsp, int upward)
{
    const int32_t depth = p->input_features;
    const int32_t channels = p->output_features;
    const int32_t whole = channels - channels % 4;

    for (int32_t n = 0; n < p->batches; n++) {
        const int8_t *values = &input[n * depth];
        int8_t *out = &output[n * channels];
        for (int32_t c = 0; c < whole; c += 4) {
            const mg_sums sums = mg_dot_4(mg_bias_4(bias, c), values, &weight[c * depth], depth,
                                          depth, p->input_offset, dsp);
            out[c] = mg_dense_s8_scaled(p, c, sums.a, multiplier, shift, upward);
            out[c + 1] = mg_dense_s8_scaled(p, c + 1, sums.b, multiplier, shift, upward);
            out[c + 2] = mg_dense_s8_scaled(p, c + 2, sums.c, multiplier, shift, upward);
            out[c + 3] = mg_dense_s8_scaled(p, c + 3, sums.d, multiplier, shift, upward);
        }
        for (int32_t c = whole; c < channels; c++) {
            const int32_t sum =
                mg_dot(mg_bias(bias, c), values, &weight[c * depth], depth, p->input_offset);
            out[c] = mg_dense_s8_scaled(p, c, sum, multiplier, shift, upward);
        }
    }
}

MG_INLINE void mg_dense_s8_portable_body(const mg_dense_s8_portable_params *p, const int8_t *input,
                                         const int8_t *weight, const int32_t *bias,
                                         const int32_t *multiplier, const int8_t *shift,
                                         int8_t *output)
{
    mg_dense_s8_blocks(p, input, weight, bias, multiplier, shift, output, 0, 0);
}

#ifdef MG_DENSE_S8_PORTABLE_IMPLEMENTATION /* the out-of-line form */
void mg_dense_s8_portable(const mg_dense_s8_portable_params *p, const int8_t *input,
                          const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                          const int8_t *shift, int8_t *output)
{
    mg_dense_s8_portable_body(p, input, weight, bias, multiplier, shift, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
