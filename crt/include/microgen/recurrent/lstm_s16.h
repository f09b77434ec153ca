/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, int16 with int8 weights, with tables. */
#ifndef MICROGEN_LSTM_S16_H
#define MICROGEN_LSTM_S16_H

#include <stddef.h>
#include <string.h>

#include "microgen/blocks/sums_s16.h"
#include "microgen/recurrent/lstm_table.h"
#include "microgen/requantization/requantize_s16.h"

typedef mg_lstm_table_params mg_lstm_s16_params;

/* The model's constants. The gates are input, forget, cell and output. */
typedef struct {
    const int8_t *input;     /* [4][cells][features] */
    const int8_t *recurrent; /* [4][cells][cells] */
    const int64_t *bias;     /* [4][cells] */
} mg_lstm_s16_weights;

/* Computes output [batches][steps][cells] from input [batches][steps][features]. output_state
 * [batches][cells] and cell_state [batches][cells] are the states before the first step, and become
 * those after the last. Arithmetic and roundings are those of TensorFlow Lite Micro's int16 LSTM.
 *
 * Sums of products must be as mg_requantize_reduced says. No two buffers may overlap. */
MG_EXTERN void mg_lstm_s16(const mg_lstm_s16_params *p, const int16_t *input, int16_t *output_state,
                           int16_t *cell_state, const int8_t *input_weight,
                           const int8_t *recurrent_weight, const int64_t *bias, int16_t *output);

/* The argument of a gate's function, from its sums over the input and over the output state. */
MG_INLINE int32_t mg_lstm_s16_scaled(const mg_lstm_s16_params *p, int32_t gate, int64_t of_input,
                                     int64_t of_state)
{
    return mg_lstm_table_added(
        mg_requantize_reduced(of_input, p->input_multiplier[gate], p->input_shift[gate]),
        mg_requantize_reduced(of_state, p->recurrent_multiplier[gate], p->recurrent_shift[gate]));
}

MG_INLINE mg_lstm_table_gates mg_lstm_s16_gates(const mg_lstm_s16_params *p,
                                                const mg_lstm_s16_weights *w, const int16_t *input,
                                                const int16_t *state, int32_t cell)
{
    const int32_t cells = p->cells;
    const mg_sums_s16 biases = {w->bias[cell], w->bias[cells + cell], w->bias[2 * cells + cell],
                                w->bias[3 * cells + cell]};
    const mg_sums_s16 none = {0, 0, 0, 0};
    const mg_sums_s16 x = mg_dot_4_s16(biases, input, &w->input[cell * p->features],
                                       cells * p->features, p->features);
    const mg_sums_s16 h =
        mg_dot_4_s16(none, state, &w->recurrent[cell * cells], cells * cells, cells);
    const mg_lstm_table_gates gates = {mg_lstm_s16_scaled(p, MG_LSTM_TABLE_INPUT, x.a, h.a),
                                       mg_lstm_s16_scaled(p, MG_LSTM_TABLE_FORGET, x.b, h.b),
                                       mg_lstm_s16_scaled(p, MG_LSTM_TABLE_CELL, x.c, h.c),
                                       mg_lstm_s16_scaled(p, MG_LSTM_TABLE_OUTPUT, x.d, h.d)};
    return gates;
}

/* Computes one step of one sequence. */
MG_INLINE void mg_lstm_s16_step(const mg_lstm_s16_params *p, const mg_lstm_s16_weights *w,
                                const int16_t *input, int16_t *state, int16_t *cell_state,
                                int16_t *output)
{
    for (int32_t cell = 0; cell < p->cells; cell++) {
        const mg_lstm_table_gates gates = mg_lstm_s16_gates(p, w, input, state, cell);
        output[cell] =
            (int16_t)mg_lstm_table_saturated(mg_lstm_table_update(p, gates, &cell_state[cell]));
    }
    (void)memcpy(state, output, (size_t)p->cells * sizeof(*state));
}

MG_INLINE void mg_lstm_s16_body(const mg_lstm_s16_params *p, const int16_t *input,
                                int16_t *output_state, int16_t *cell_state,
                                const int8_t *input_weight, const int8_t *recurrent_weight,
                                const int64_t *bias, int16_t *output)
{
    const mg_lstm_s16_weights w = {input_weight, recurrent_weight, bias};

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t t = 0; t < p->steps; t++) {
            const int32_t row = mg_lstm_table_row(p, n, t);
            mg_lstm_s16_step(p, &w, &input[row * p->features], &output_state[n * p->cells],
                             &cell_state[n * p->cells], &output[row * p->cells]);
        }
    }
}

#ifdef MG_LSTM_S16_IMPLEMENTATION /* the out-of-line form */
void mg_lstm_s16(const mg_lstm_s16_params *p, const int16_t *input, int16_t *output_state,
                 int16_t *cell_state, const int8_t *input_weight, const int8_t *recurrent_weight,
                 const int64_t *bias, int16_t *output)
{
    mg_lstm_s16_body(p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                     output);
}
#endif

#endif
