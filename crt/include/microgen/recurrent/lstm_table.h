/* SPDX-License-Identifier: Apache-2.0 */
/* What the LSTM kernels with tables share: TensorFlow Lite Micro's arithmetic after the sums. The
 * gates' functions are interpolated in the table of int16 sigmoid and tanh. The Python twin is
 * microgen/graph/ops/recurrent/lstm_tables.py, which computes the same values, bit for bit.
 */
#ifndef MICROGEN_LSTM_TABLE_H
#define MICROGEN_LSTM_TABLE_H

#include "microgen/arithmetic/clamp.h"
#include "microgen/requantization/requantize.h"
#include "microgen/unary/unary_s16.h"

/* Arrays have an element for each gate: input, forget, cell, output.
 * microgen/requantization/requantize.h describes multipliers and shifts. */
typedef struct {
    int32_t batches;
    int32_t steps;
    int32_t features; /* of the input */
    int32_t cells;
    int32_t time_major;          /* 1: input and output are [steps][batches]; 0: [batches][steps] */
    int32_t input_offset;        /* minus the input's zero point: -127 to 128; int16 data: 0 */
    int32_t state_offset;        /* minus the output state's zero point: the same */
    int32_t input_multiplier[4]; /* from sums over the input to Q3.12 */
    int32_t input_shift[4];
    int32_t recurrent_multiplier[4]; /* from sums over the output state to Q3.12 */
    int32_t recurrent_shift[4];
    int32_t take_multiplier; /* from gate * tanh, both Q0.15, to the cell state */
    int32_t take_shift;
    int32_t tanh_multiplier; /* for the cell state, as mg_sigmoid_argument says */
    int32_t tanh_shift;
    int32_t cell_clip;         /* largest magnitude of the cell state: 0 to 32768 */
    int32_t hidden_multiplier; /* from gate * tanh, both Q0.15, to the output state */
    int32_t hidden_shift;
} mg_lstm_table_params;

enum {
    MG_LSTM_TABLE_INPUT = 0,
    MG_LSTM_TABLE_FORGET = 1,
    MG_LSTM_TABLE_CELL = 2,
    MG_LSTM_TABLE_OUTPUT = 3
};

/* The arguments of the functions of a cell's gates in Q3.12. */
typedef struct {
    int32_t input;
    int32_t forget;
    int32_t cell;
    int32_t output;
} mg_lstm_table_gates;

MG_INLINE int32_t mg_lstm_table_saturated(int32_t x)
{
    return mg_clamp_s16(x, INT16_MIN, INT16_MAX);
}

/* x + y, saturated before and after the addition. */
MG_INLINE int32_t mg_lstm_table_added(int32_t x, int32_t y)
{
    return mg_lstm_table_saturated(mg_lstm_table_saturated(x) + mg_lstm_table_saturated(y));
}

/* 1 / (1 + exp(-x)) as Q0.15, for x as Q3.12. */
MG_INLINE int32_t mg_lstm_table_logistic(int32_t x)
{
    const mg_sigmoid_s16_params p = {1, 3, 0};
    return mg_sigmoid_s16_element(&p, (int16_t)x);
}

/* tanh(x) as Q0.15, for x in the scale that multiplier and shift are for. */
MG_INLINE int32_t mg_lstm_table_tanh(int32_t x, int32_t multiplier, int32_t shift)
{
    const mg_tanh_s16_params p = {1, multiplier, shift};
    return mg_tanh_s16_element(&p, (int16_t)x);
}

/* The cell state after a step, from the one before and the gates' arguments. */
MG_INLINE int32_t mg_lstm_table_cell(const mg_lstm_table_params *p, int32_t before,
                                     const mg_lstm_table_gates *gates)
{
    const int32_t keep = mg_lstm_table_logistic(gates->forget);
    const int32_t take = mg_lstm_table_logistic(gates->input);
    const int32_t change = mg_lstm_table_tanh(gates->cell, 3, 0);
    const int32_t kept = mg_requantize(keep * before, (int32_t)1 << 30, -14); /* over 2^15 */
    const int32_t taken = mg_requantize(take * change, p->take_multiplier, p->take_shift);
    const int32_t after = mg_lstm_table_added(kept, taken);

    if (after > p->cell_clip) {
        return p->cell_clip;
    }
    return (after < -p->cell_clip) ? -p->cell_clip : after;
}

/* Updates the state of a cell and returns its output without the zero point, not clamped. */
MG_INLINE int32_t mg_lstm_table_update(const mg_lstm_table_params *p, mg_lstm_table_gates gates,
                                       int16_t *cell_state)
{
    const int32_t after = mg_lstm_table_cell(p, *cell_state, &gates);
    const int32_t show = mg_lstm_table_logistic(gates.output);
    const int32_t shown = show * mg_lstm_table_tanh(after, p->tanh_multiplier, p->tanh_shift);

    *cell_state = (int16_t)after;
    return mg_requantize(shown, p->hidden_multiplier, p->hidden_shift);
}

/* The row of the input, and of the output, at step t of sequence n. */
MG_INLINE int32_t mg_lstm_table_row(const mg_lstm_table_params *p, int32_t n, int32_t t)
{
    return (p->time_major != 0) ? t * p->batches + n : n * p->steps + t;
}

#endif
