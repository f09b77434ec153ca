/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, int8 with an int16 cell state, with tables. */
#ifndef MICROGEN_LSTM_S8_TABLE_H
#define MICROGEN_LSTM_S8_TABLE_H

#include <stddef.h>
#include <string.h>

#include "microgen/blocks/blocks_s8.h"
#include "microgen/recurrent/lstm_table.h"
#include "microgen/requantization/requantize.h"

typedef mg_lstm_table_params mg_lstm_s8_table_params;

/* The model's constants. The gates are input, forget, cell and output. */
typedef struct {
    const int8_t *input;     /* [4][cells][features] */
    const int8_t *recurrent; /* [4][cells][cells] */
    const int32_t *bias;     /* [4][cells] */
} mg_lstm_s8_table_weights;

/* The prototype of `name`, one of the kernels that compute the layer. */
#define MG_LSTM_S8_TABLE_PROTOTYPE(name)                                                           \
    void name(const mg_lstm_s8_table_params *p, const int8_t *input, int8_t *output_state,         \
              int16_t *cell_state, const int8_t *input_weight, const int8_t *recurrent_weight,     \
              const int32_t *bias, int8_t *output)

/* Computes output [batches][steps][cells] from input [batches][steps][features]. output_state
 * [batches][cells] and cell_state [batches][cells] are the states before the first step, and become
 * those after the last. Arithmetic and roundings are those of TensorFlow Lite Micro's int8 LSTM.
 *
 * Sums of products must fit int32, partial sums included. No two buffers may overlap. */
MG_EXTERN MG_LSTM_S8_TABLE_PROTOTYPE(mg_lstm_s8_table);

/* The argument of a gate's function, from its sums over the input and over the output state. */
MG_INLINE int32_t mg_lstm_s8_table_scaled(const mg_lstm_s8_table_params *p, int32_t gate,
                                          int32_t of_input, int32_t of_state)
{
    return mg_lstm_table_added(
        mg_requantize(of_input, p->input_multiplier[gate], p->input_shift[gate]),
        mg_requantize(of_state, p->recurrent_multiplier[gate], p->recurrent_shift[gate]));
}

MG_INLINE mg_lstm_table_gates mg_lstm_s8_table_gates(const mg_lstm_s8_table_params *p,
                                                     const mg_lstm_s8_table_weights *w,
                                                     const int8_t *input, const int8_t *state,
                                                     int32_t cell, int dsp)
{
    const int32_t cells = p->cells;
    const mg_sums biases = {w->bias[cell], w->bias[cells + cell], w->bias[2 * cells + cell],
                            w->bias[3 * cells + cell]};
    const mg_sums none = {0, 0, 0, 0};
    const mg_sums x = mg_dot_4(biases, input, &w->input[cell * p->features], cells * p->features,
                               p->features, p->input_offset, dsp);
    const mg_sums h = mg_dot_4(none, state, &w->recurrent[cell * cells], cells * cells, cells,
                               p->state_offset, dsp);
    const mg_lstm_table_gates gates = {mg_lstm_s8_table_scaled(p, MG_LSTM_TABLE_INPUT, x.a, h.a),
                                       mg_lstm_s8_table_scaled(p, MG_LSTM_TABLE_FORGET, x.b, h.b),
                                       mg_lstm_s8_table_scaled(p, MG_LSTM_TABLE_CELL, x.c, h.c),
                                       mg_lstm_s8_table_scaled(p, MG_LSTM_TABLE_OUTPUT, x.d, h.d)};
    return gates;
}

/* Computes one step of one sequence. */
MG_INLINE void mg_lstm_s8_table_step(const mg_lstm_s8_table_params *p,
                                     const mg_lstm_s8_table_weights *w, const int8_t *input,
                                     int8_t *state, int16_t *cell_state, int8_t *output, int dsp)
{
    for (int32_t cell = 0; cell < p->cells; cell++) {
        const mg_lstm_table_gates gates = mg_lstm_s8_table_gates(p, w, input, state, cell, dsp);
        output[cell] = mg_offset_and_clamp(mg_lstm_table_update(p, gates, &cell_state[cell]),
                                           -p->state_offset, INT8_MIN, INT8_MAX);
    }
    (void)memcpy(state, output, (size_t)p->cells);
}

/* The body of this kernel and, if `dsp` is 1, of the one for the Arm DSP extension. */
MG_INLINE void mg_lstm_s8_table_run(const mg_lstm_s8_table_params *p,
                                    const mg_lstm_s8_table_weights *w, const int8_t *input,
                                    int8_t *output_state, int16_t *cell_state, int8_t *output,
                                    int dsp)
{
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t t = 0; t < p->steps; t++) {
            const int32_t row = mg_lstm_table_row(p, n, t);
            mg_lstm_s8_table_step(p, w, &input[row * p->features], &output_state[n * p->cells],
                                  &cell_state[n * p->cells], &output[row * p->cells], dsp);
        }
    }
}

MG_INLINE MG_LSTM_S8_TABLE_PROTOTYPE(mg_lstm_s8_table_body)
{
    const mg_lstm_s8_table_weights w = {input_weight, recurrent_weight, bias};
    mg_lstm_s8_table_run(p, &w, input, output_state, cell_state, output, 0);
}

typedef mg_lstm_s8_table_params mg_lstm_s8_table_dsp_params;

/* Computes the same as mg_lstm_s8_table with the same arguments. */
MG_EXTERN MG_LSTM_S8_TABLE_PROTOTYPE(mg_lstm_s8_table_dsp);

MG_INLINE MG_LSTM_S8_TABLE_PROTOTYPE(mg_lstm_s8_table_dsp_body)
{
    const mg_lstm_s8_table_weights w = {input_weight, recurrent_weight, bias};
    mg_lstm_s8_table_run(p, &w, input, output_state, cell_state, output, 1);
}

#ifdef MG_LSTM_S8_TABLE_IMPLEMENTATION /* the out-of-line forms */
#define MG_LSTM_S8_TABLE_SHARED(symbol)                                                            \
    MG_IF_WANTED(symbol)                                                                           \
    (MG_LSTM_S8_TABLE_PROTOTYPE(symbol) {                                                          \
        symbol##_body(p, input, output_state, cell_state, input_weight, recurrent_weight, bias,    \
                      output);                                                                     \
    })
MG_LSTM_S8_TABLE_SHARED(mg_lstm_s8_table)
MG_LSTM_S8_TABLE_SHARED(mg_lstm_s8_table_dsp)
#endif

#endif
