/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8, four output channels at a time, requantized with one rounding, ties
 * upwards; in plain C and with the Arm DSP extension. */
#ifndef MICROGEN_DENSE_S8_UPWARD_H
#define MICROGEN_DENSE_S8_UPWARD_H

#include <stdint.h>

#include "microgen/dense_s8_portable.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_dense_s8_params mg_dense_s8_upward_portable_params;
typedef mg_dense_s8_params mg_dense_s8_upward_dsp_params;

/* Computes the same as mg_dense_s8 with the same arguments, but rounds once, ties upwards.
 * single_rounding is ignored. */
void mg_dense_s8_upward_portable(const mg_dense_s8_upward_portable_params *p, const int8_t *input,
                                 const int8_t *weight, const int32_t *bias,
                                 const int32_t *multiplier, const int8_t *shift, int8_t *output);
void mg_dense_s8_upward_dsp(const mg_dense_s8_upward_dsp_params *p, const int8_t *input,
                            const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                            const int8_t *shift, int8_t *output);

MG_INLINE void mg_dense_s8_upward_portable_body(const mg_dense_s8_upward_portable_params *p,
                                                const int8_t *input, const int8_t *weight,
                                                const int32_t *bias, const int32_t *multiplier,
                                                const int8_t *shift, int8_t *output)
{
    mg_dense_s8_blocks(p, input, weight, bias, multiplier, shift, output, 0, 1);
}

MG_INLINE void mg_dense_s8_upward_dsp_body(const mg_dense_s8_upward_dsp_params *p,
                                           const int8_t *input, const int8_t *weight,
                                           const int32_t *bias, const int32_t *multiplier,
                                           const int8_t *shift, int8_t *output)
{
    mg_dense_s8_blocks(p, input, weight, bias, multiplier, shift, output, 1, 1);
}

#ifdef MG_DENSE_S8_UPWARD_IMPLEMENTATION /* the out-of-line forms */
void mg_dense_s8_upward_portable(const mg_dense_s8_upward_portable_params *p, const int8_t *input,
                                 const int8_t *weight, const int32_t *bias,
                                 const int32_t *multiplier, const int8_t *shift, int8_t *output)
{
    mg_dense_s8_upward_portable_body(p, input, weight, bias, multiplier, shift, output);
}

void mg_dense_s8_upward_dsp(const mg_dense_s8_upward_dsp_params *p, const int8_t *input,
                            const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                            const int8_t *shift, int8_t *output)
{
    mg_dense_s8_upward_dsp_body(p, input, weight, bias, multiplier, shift, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
