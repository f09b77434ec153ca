/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, int8 with tables, with the Arm DSP extension. */
#ifndef MICROGEN_LSTM_S8_TABLE_DSP_H
#define MICROGEN_LSTM_S8_TABLE_DSP_H

#include "microgen/recurrent/lstm_s8_table.h"

typedef mg_lstm_s8_table_params mg_lstm_s8_table_dsp_params;

/* Computes the same as mg_lstm_s8_table with the same arguments. */
MG_EXTERN MG_LSTM_S8_TABLE_PROTOTYPE(mg_lstm_s8_table_dsp);

MG_INLINE MG_LSTM_S8_TABLE_PROTOTYPE(mg_lstm_s8_table_dsp_body)
{
    const mg_lstm_s8_table_weights w = {input_weight, recurrent_weight, bias};
    mg_lstm_s8_table_run(p, &w, input, output_state, cell_state, output, 1);
}

#ifdef MG_LSTM_S8_TABLE_DSP_IMPLEMENTATION /* the out-of-line form */
MG_LSTM_S8_TABLE_PROTOTYPE(mg_lstm_s8_table_dsp)
{
    mg_lstm_s8_table_dsp_body(p, input, output_state, cell_state, input_weight, recurrent_weight,
                              bias, output);
}
#endif

#endif
