/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, int8, with the Arm DSP extension. */
#ifndef MICROGEN_LSTM_S8_DSP_H
#define MICROGEN_LSTM_S8_DSP_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/recurrent/lstm_s8.h"

typedef mg_lstm_s8_params mg_lstm_s8_dsp_params;

/* Computes the same as mg_lstm_s8 with the same arguments. All four gates are required. */
MG_EXTERN void mg_lstm_s8_dsp(const mg_lstm_s8_dsp_params *p, const int8_t *input,
                              int8_t *output_state, int16_t *cell_state, const int8_t *input_weight,
                              const int8_t *recurrent_weight, const int32_t *bias,
                              const int16_t *peephole, const int8_t *projection,
                              const int32_t *projection_bias, int8_t *output, uint8_t *scratch);

MG_INLINE void mg_lstm_s8_dsp_body(const mg_lstm_s8_dsp_params *p, const int8_t *input,
                                   int8_t *output_state, int16_t *cell_state,
                                   const int8_t *input_weight, const int8_t *recurrent_weight,
                                   const int32_t *bias, const int16_t *peephole,
                                   const int8_t *projection, const int32_t *projection_bias,
                                   int8_t *output, uint8_t *scratch)
{
    const mg_lstm_s8_weights w = {input_weight, recurrent_weight, bias,
                                  peephole,     projection,       projection_bias};
    mg_lstm_s8_run(p, &w, input, output_state, cell_state, output, scratch, 1);
}

#ifdef MG_LSTM_S8_DSP_IMPLEMENTATION /* the out-of-line form */
void mg_lstm_s8_dsp(const mg_lstm_s8_dsp_params *p, const int8_t *input, int8_t *output_state,
                    int16_t *cell_state, const int8_t *input_weight, const int8_t *recurrent_weight,
                    const int32_t *bias, const int16_t *peephole, const int8_t *projection,
                    const int32_t *projection_bias, int8_t *output, uint8_t *scratch)
{
    mg_lstm_s8_dsp_body(p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                        peephole, projection, projection_bias, output, scratch);
}
#endif

#endif
