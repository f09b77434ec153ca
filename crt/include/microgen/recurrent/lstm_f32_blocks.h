/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, float32, for cores with an FPU: sums of the four
 * gates of a cell as blocks_f32.h computes them. */
#ifndef MICROGEN_LSTM_F32_BLOCKS_H
#define MICROGEN_LSTM_F32_BLOCKS_H

#include "microgen/recurrent/lstm_f32.h"

typedef mg_lstm_f32_params mg_lstm_f32_blocks_params;

/* Computes the same as mg_lstm_f32 with four gates, except that sums are added as `fused` says: of
 * mg_lstm_f32_mla separately, of mg_lstm_f32_fma fused. */
MG_INLINE void mg_lstm_f32_blocks_body(MG_LSTM_F32_ARGUMENTS, int fused)
{
    mg_lstm_f32_run(p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                    peephole, projection, projection_bias, output, scratch, fused);
}

#define MG_LSTM_F32_BLOCKS_PROTOTYPE(name) void name(MG_LSTM_F32_ARGUMENTS)

#define MG_LSTM_F32_BLOCKS_KERNEL(name, fused)                                                     \
    MG_LSTM_F32_BLOCKS_PROTOTYPE(name);                                                            \
    MG_LSTM_F32_BLOCKS_PROTOTYPE(name)                                                             \
    {                                                                                              \
        mg_lstm_f32_blocks_body(p, input, output_state, cell_state, input_weight,                  \
                                recurrent_weight, bias, peephole, projection, projection_bias,     \
                                output, scratch, fused);                                           \
    }

#endif
