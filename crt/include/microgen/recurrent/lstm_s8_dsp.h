/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, int8, with the Arm DSP extension. */
#ifndef MICROGEN_LSTM_S8_DSP_H
#define MICROGEN_LSTM_S8_DSP_H

#include "microgen/recurrent/lstm_s8.h"

typedef mg_lstm_s8_params mg_lstm_s8_dsp_params;

/* Computes the same as mg_lstm_s8 with the same arguments. All four gates are required. */
MG_EXTERN MG_LSTM_S8_PROTOTYPE(mg_lstm_s8_dsp);

MG_INLINE MG_LSTM_S8_PROTOTYPE(mg_lstm_s8_dsp_body)
{
    const mg_lstm_s8_weights w = {input_weight, recurrent_weight, bias,
                                  peephole,     projection,       projection_bias};
    mg_lstm_s8_run(p, &w, input, output_state, cell_state, output, scratch, 1);
}

#ifdef MG_LSTM_S8_DSP_IMPLEMENTATION /* the out-of-line form */
MG_LSTM_S8_PROTOTYPE(mg_lstm_s8_dsp)
{
    mg_lstm_s8_dsp_body(p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                        peephole, projection, projection_bias, output, scratch);
}
#endif

#endif
