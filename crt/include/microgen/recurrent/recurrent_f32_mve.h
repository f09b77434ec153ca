/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers over sequences, in one direction, float32, for MVE with floats:
 * mg_recurrent_lstm_f32_mve and mg_recurrent_gru_f32_mve. */
#ifndef MICROGEN_RECURRENT_F32_MVE_H
#define MICROGEN_RECURRENT_F32_MVE_H

#include "microgen/recurrent/recurrent_f32.h"

typedef mg_recurrent_f32_params mg_recurrent_f32_mve_params;

/* Computes the same as mg_recurrent_f32_body with the usual functions, an unlimited clip, without
 * peepholes and coupled gates, and of GRUs those that reset after the product, except for the order
 * of sums and a few units in the last place of the functions. recurrent_steps_mve.h describes the
 * weights. */
MG_INLINE void mg_recurrent_f32_mve_body(const mg_recurrent_f32_mve_params *p, const float *input,
                                         const int32_t *lengths, const float *hidden,
                                         const float *cell, const float *input_weight,
                                         const float *recurrent_weight, const float *bias,
                                         float *output, uint8_t *scratch, int kind)
{
    mg_recurrent_f32_body(p, input, input_weight, recurrent_weight, bias, lengths, hidden, cell,
                          NULL, output, scratch, kind, MG_RECURRENT_VECTORS);
}

#define MG_RECURRENT_F32_MVE_PROTOTYPE(name)                                                       \
    void name(const mg_recurrent_f32_mve_params *p, const float *input, const int32_t *lengths,    \
              const float *hidden, const float *cell, const float *input_weight,                   \
              const float *recurrent_weight, const float *bias, float *output, uint8_t *scratch)

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)

#define MG_RECURRENT_F32_MVE_KERNEL(name, kind)                                                    \
    MG_RECURRENT_F32_MVE_PROTOTYPE(name);                                                          \
    MG_RECURRENT_F32_MVE_PROTOTYPE(name)                                                           \
    {                                                                                              \
        mg_recurrent_f32_mve_body(p, input, lengths, hidden, cell, input_weight, recurrent_weight, \
                                  bias, output, scratch, kind);                                    \
    }

#else

#define MG_RECURRENT_F32_MVE_KERNEL(name, kind) MG_RECURRENT_F32_MVE_PROTOTYPE(name);

#endif

#endif
