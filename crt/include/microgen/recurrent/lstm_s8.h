/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, int8 with an int16 cell state. */
#ifndef MICROGEN_LSTM_S8_H
#define MICROGEN_LSTM_S8_H

#include <stddef.h>
#include <string.h>

#include "microgen/arithmetic/fixed_point_16.h"
#include "microgen/blocks/blocks_s8.h"
#include "microgen/recurrent/lstm.h"
#include "microgen/requantization/requantize.h"

/* Arrays have an element for each gate: input, forget, cell, output. The cell gate has no peephole.
 * microgen/requantization/requantize.h describes multipliers and shifts. */
typedef struct {
    MG_LSTM_SIZES
    int32_t input_offset;        /* minus the input's zero point: -127 to 128 */
    int32_t state_offset;        /* minus the output state's zero point: -127 to 128 */
    int32_t input_multiplier[4]; /* from sums over the input to Q3.12 */
    int32_t input_shift[4];
    int32_t recurrent_multiplier[4]; /* from sums over the output state to Q3.12 */
    int32_t recurrent_shift[4];
    int32_t peephole_multiplier[4]; /* from products with the cell state to Q3.12 */
    int32_t peephole_shift[4];
    int32_t cell_bits;         /* integer bits of the cell state: 0 to 6 */
    int32_t cell_clip;         /* largest magnitude of the cell state, or 0 */
    int32_t hidden_multiplier; /* from gate * tanh, both Q0.15, to the hidden state */
    int32_t hidden_shift;
    int32_t hidden_offset;         /* added to the hidden state */
    int32_t projection_offset;     /* added to the hidden state before it is projected */
    int32_t projection_multiplier; /* from sums over the hidden state to the output */
    int32_t projection_shift;
    int32_t output_offset;   /* the output's zero point, for projections */
    int32_t projection_clip; /* largest magnitude of a projected output as stored, or 0 */
} mg_lstm_s8_params;

typedef struct {
    MG_LSTM_WEIGHTS(int8_t, int32_t, int16_t)
} mg_lstm_s8_weights;

/* The prototype of `name`, one of the kernels that compute the layer. */
#define MG_LSTM_S8_PROTOTYPE(name)                                                                 \
    void name(const mg_lstm_s8_params *p, const int8_t *input, int8_t *output_state,               \
              int16_t *cell_state, const int8_t *input_weight, const int8_t *recurrent_weight,     \
              const int32_t *bias, const int16_t *peephole, const int8_t *projection,              \
              const int32_t *projection_bias, int8_t *output, uint8_t *scratch)

/* Computes output [batches][steps][outputs] from input [batches][steps][features]. output_state
 * [batches][outputs] and cell_state [batches][cells] are the states before the first step, and
 * become those after the last. Arithmetic and roundings are those of TFLite's int8 LSTM.
 *
 * scratch must have space for `cells` bytes, the hidden state of one step. Sums of products must
 * fit int32, partial sums included. No two buffers may overlap. */
MG_EXTERN MG_LSTM_S8_PROTOTYPE(mg_lstm_s8);

/* sums + the sums of (value + offset) * weight for the gates of a cell: a to d are the input,
 * forget, cell and output gate. `weight` points to the weights of the first gate. */
MG_INLINE mg_sums mg_lstm_s8_products(const mg_lstm_s8_params *p, mg_sums sums,
                                      const int8_t *values, int32_t offset, const int8_t *weight,
                                      int32_t count, int dsp)
{
    const int32_t step = p->cells * count;

    if (p->gates == 4) {
        return mg_dot_4(sums, values, weight, step, count, offset, dsp);
    }
    sums.b = mg_dot(sums.b, values, weight, count, offset);
    sums.c = mg_dot(sums.c, values, &weight[step], count, offset);
    sums.d = mg_dot(sums.d, values, &weight[2 * step], count, offset);
    return sums;
}

/* A gate's two sums, over the input and over the output state, scaled to Q3.12 and added. */
MG_INLINE int32_t mg_lstm_s8_scaled(const mg_lstm_s8_params *p, int32_t gate, int32_t of_input,
                                    int32_t of_state)
{
    const int32_t sum =
        mg_saturate_16(mg_requantize(of_input, p->input_multiplier[gate], p->input_shift[gate]));
    return mg_saturate_16(
        sum + mg_requantize(of_state, p->recurrent_multiplier[gate], p->recurrent_shift[gate]));
}

/* The arguments of the activation functions of a cell's gates in Q3.12, without peepholes. If there
 * is no input gate, its sum is meaningless. */
MG_INLINE mg_sums mg_lstm_s8_gates(const mg_lstm_s8_params *p, const mg_lstm_s8_weights *w,
                                   const int8_t *input, const int8_t *state, int32_t cell, int dsp)
{
    const int32_t forget = (p->gates - 3) * p->cells + cell; /* index of its bias */
    const mg_sums biases = {(p->gates == 4) ? w->bias[cell] : 0, w->bias[forget],
                            w->bias[forget + p->cells], w->bias[forget + 2 * p->cells]};
    const mg_sums none = {0, 0, 0, 0};
    const mg_sums x = mg_lstm_s8_products(p, biases, input, p->input_offset,
                                          &w->input[cell * p->features], p->features, dsp);
    const mg_sums h = mg_lstm_s8_products(p, none, state, p->state_offset,
                                          &w->recurrent[cell * p->outputs], p->outputs, dsp);
    const mg_sums gates = {mg_lstm_s8_scaled(p, MG_LSTM_INPUT, x.a, h.a),
                           mg_lstm_s8_scaled(p, MG_LSTM_FORGET, x.b, h.b),
                           mg_lstm_s8_scaled(p, MG_LSTM_CELL, x.c, h.c),
                           mg_lstm_s8_scaled(p, MG_LSTM_OUTPUT, x.d, h.d)};
    return gates;
}

/* The value of the input, forget or output gate in Q0.15. Its peephole reads `cell_state`. */
MG_INLINE int32_t mg_lstm_s8_gate(const mg_lstm_s8_params *p, const mg_lstm_s8_weights *w,
                                  int32_t sum, int32_t gate, int32_t cell, int32_t cell_state)
{
    if (w->peephole != NULL) {
        const int32_t place = (gate > MG_LSTM_CELL) ? gate - 1 : gate;
        const int32_t row = (place - 4 + p->gates) * p->cells + cell;
        sum = mg_saturate_16(sum + mg_requantize(cell_state * w->peephole[row],
                                                 p->peephole_multiplier[gate],
                                                 p->peephole_shift[gate]));
    }
    return mg_logistic_16(sum);
}

/* The cell state after a step, from the one before and the values of its gates in Q0.15. */
MG_INLINE int32_t mg_lstm_s8_cell(const mg_lstm_s8_params *p, int32_t state, int32_t keep,
                                  int32_t take, int32_t change)
{
    const int32_t next =
        mg_saturate_16(mg_divide_by_power_of_two(keep * state, 15) +
                       mg_divide_by_power_of_two(take * change, 15 + p->cell_bits));

    if (p->cell_clip != 0 && next > p->cell_clip) {
        return p->cell_clip;
    }
    return (p->cell_clip != 0 && next < -p->cell_clip) ? -p->cell_clip : next;
}

/* Updates one cell and returns its output, quantized like the hidden state. */
MG_INLINE int8_t mg_lstm_s8_update(const mg_lstm_s8_params *p, const mg_lstm_s8_weights *w,
                                   const int8_t *input, const int8_t *state, int32_t cell,
                                   int16_t *cell_state, int dsp)
{
    const mg_sums gates = mg_lstm_s8_gates(p, w, input, state, cell, dsp);
    const int32_t before = *cell_state;
    const int32_t keep = mg_lstm_s8_gate(p, w, gates.b, MG_LSTM_FORGET, cell, before);
    const int32_t take = (p->gates == 4)
                             ? mg_lstm_s8_gate(p, w, gates.a, MG_LSTM_INPUT, cell, before)
                             : INT16_MAX - keep;
    const int32_t after = mg_lstm_s8_cell(p, before, keep, take, mg_tanh_16(gates.c, 3));
    const int32_t show = mg_lstm_s8_gate(p, w, gates.d, MG_LSTM_OUTPUT, cell, after);
    const int32_t shown = show * mg_tanh_16(after, p->cell_bits);

    *cell_state = (int16_t)after;
    return mg_offset_and_clamp(mg_requantize(shown, p->hidden_multiplier, p->hidden_shift),
                               p->hidden_offset, INT8_MIN, INT8_MAX);
}

/* Projects the hidden state into output [outputs]. */
MG_INLINE void mg_lstm_s8_project(const mg_lstm_s8_params *p, const mg_lstm_s8_weights *w,
                                  const int8_t *hidden, int8_t *output)
{
    const int32_t low = (p->projection_clip != 0) ? -p->projection_clip : INT8_MIN;
    const int32_t high = (p->projection_clip != 0) ? p->projection_clip : INT8_MAX;

    for (int32_t o = 0; o < p->outputs; o++) {
        const int32_t bias = (w->projection_bias != NULL) ? w->projection_bias[o] : 0;
        const int32_t sum =
            mg_dot(bias, hidden, &w->projection[o * p->cells], p->cells, p->projection_offset);
        output[o] =
            mg_offset_and_clamp(mg_requantize(sum, p->projection_multiplier, p->projection_shift),
                                p->output_offset, low, high);
    }
}

/* Computes one step of one sequence. */
MG_INLINE void mg_lstm_s8_step(const mg_lstm_s8_params *p, const mg_lstm_s8_weights *w,
                               const int8_t *input, int8_t *state, int16_t *cell_state,
                               int8_t *output, int8_t *hidden, int dsp)
{
    for (int32_t cell = 0; cell < p->cells; cell++) {
        hidden[cell] = mg_lstm_s8_update(p, w, input, state, cell, &cell_state[cell], dsp);
    }
    if (w->projection != NULL) {
        mg_lstm_s8_project(p, w, hidden, output);
    } else {
        (void)memcpy(output, hidden, (size_t)p->outputs);
    }
    (void)memcpy(state, output, (size_t)p->outputs);
}

/* The body of this kernel and, if `dsp` is 1, of the one for the Arm DSP extension. */
MG_INLINE void mg_lstm_s8_run(const mg_lstm_s8_params *p, const mg_lstm_s8_weights *w,
                              const int8_t *input, int8_t *output_state, int16_t *cell_state,
                              int8_t *output, uint8_t *scratch, int dsp)
{
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t t = 0; t < p->steps; t++) {
            const int32_t row = (p->time_major != 0) ? t * p->batches + n : n * p->steps + t;
            mg_lstm_s8_step(p, w, &input[row * p->features], &output_state[n * p->outputs],
                            &cell_state[n * p->cells], &output[row * p->outputs], (int8_t *)scratch,
                            dsp);
        }
    }
}

MG_INLINE MG_LSTM_S8_PROTOTYPE(mg_lstm_s8_body)
{
    const mg_lstm_s8_weights w = {input_weight, recurrent_weight, bias,
                                  peephole,     projection,       projection_bias};
    mg_lstm_s8_run(p, &w, input, output_state, cell_state, output, scratch, 0);
}

typedef mg_lstm_s8_params mg_lstm_s8_dsp_params;

/* Computes the same as mg_lstm_s8 with the same arguments. All four gates are required. */
MG_EXTERN MG_LSTM_S8_PROTOTYPE(mg_lstm_s8_dsp);

MG_INLINE MG_LSTM_S8_PROTOTYPE(mg_lstm_s8_dsp_body)
{
    const mg_lstm_s8_weights w = {input_weight, recurrent_weight, bias,
                                  peephole,     projection,       projection_bias};
    mg_lstm_s8_run(p, &w, input, output_state, cell_state, output, scratch, 1);
}

#ifdef MG_LSTM_S8_IMPLEMENTATION /* the out-of-line forms */
#define MG_LSTM_S8_SHARED(symbol)                                                                  \
    MG_IF_WANTED(symbol)                                                                           \
    (MG_LSTM_S8_PROTOTYPE(symbol) {                                                                \
        symbol##_body(p, input, output_state, cell_state, input_weight, recurrent_weight, bias,    \
                      peephole, projection, projection_bias, output, scratch);                     \
    })
MG_LSTM_S8_SHARED(mg_lstm_s8)
MG_LSTM_S8_SHARED(mg_lstm_s8_dsp)
#endif

#endif
