/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, int8 with an int16 cell state, for cores with the
 * Arm DSP extension: the four gates of two cells at a time, with the paired weights of paired_s8.h,
 * and the gates' functions of gate_functions_16.h. */
#ifndef MICROGEN_LSTM_S8_PAIRED_H
#define MICROGEN_LSTM_S8_PAIRED_H

#include "microgen/arithmetic/gate_functions_16.h"
#include "microgen/dense/dense_s8_paired.h"
#include "microgen/recurrent/lstm_s8.h"

typedef mg_lstm_s8_params mg_lstm_s8_paired_params;

/* Computes the same as mg_lstm_s8 with four gates, without peepholes and projection. The weights
 * are those of paired_s8.h for groups of eight sums: of two cells, each with its gates input,
 * forget, output and cell. A last cell without another is in a group with weights of 0. The biases,
 * int32 [groups][8], are 256 times what sums start with; zero points are in them. The shifts of
 * sums are at most 7, the hidden state's is negative, and cell_bits is 2 or more.
 * gate_functions_16.h describes exponential and factor.
 *
 * scratch, aligned to 4 bytes, has two words for each four features and for each four cells. */
MG_EXTERN void mg_lstm_s8_paired(const mg_lstm_s8_paired_params *p, const int8_t *input,
                                 int8_t *output_state, int16_t *cell_state,
                                 const int32_t *input_weight, const int32_t *recurrent_weight,
                                 const int32_t *bias, const int32_t *recurrent_bias,
                                 const int16_t *exponential, const int32_t *factor, int8_t *output,
                                 uint8_t *scratch);

enum {
    MG_LSTM_CELLS = 8,       /* cells whose gates' functions are computed together */
    MG_LSTM_GATES = 4,       /* of a cell */
    MG_LSTM_SUMS = 8,        /* of a group */
    MG_LSTM_SUM_FRACTION = 8 /* bits of the fraction of a sum */
};

/* A scale for sums times 256, rounded as mg_requantize does. */
typedef struct {
    int32_t multiplier;
    int32_t before; /* a shift to the right, of a sum times 256 */
    int32_t after;  /* a rounding shift to the right */
    int32_t half;   /* of 2^after, or 0 */
    int32_t ties;   /* -1 if there is a half, else 0 */
} mg_lstm_scale;

/* The layer's constants, and what its parameters are prepared as. */
typedef struct {
    const int32_t *input;
    const int32_t *recurrent;
    const int32_t *bias;
    const int32_t *recurrent_bias;
    mg_gate_tables tables;
    mg_lstm_scale scale[MG_LSTM_GATES][2]; /* of a group's gates: over the input, the state */
    int32_t input_steps;
    int32_t state_steps;
} mg_lstm_s8_paired_layer;

/* Rows of data as mg_dense_s8_paired_row stores them. */
typedef struct {
    uint32_t *input;
    uint32_t *state;
} mg_lstm_s8_paired_rows;

/* The assembly of mg_dense_s8_paired_add takes all registers; as in paired_s8.h, its function has
 * little stack. */
MG_ONCE const int32_t *mg_lstm_s8_paired_sums(int32_t sums[MG_LSTM_SUMS], const int32_t *bias,
                                              const uint32_t *values, const int32_t *weight,
                                              int32_t steps)
{
    return mg_dense_s8_paired_add(sums, bias, values, weight, steps, MG_DENSE_WORDS);
}

MG_INLINE mg_lstm_scale mg_lstm_scale_of(int32_t multiplier, int32_t shift)
{
    mg_lstm_scale scale = {multiplier, MG_LSTM_SUM_FRACTION - 1, 0, 0, 0};

    if (shift >= 0) {
        scale.before -= shift;
    } else {
        scale.after = -shift;
        scale.half = mg_shift_left(1, scale.after - 1);
        scale.ties = -1;
    }
    return scale;
}

MG_INLINE int32_t mg_lstm_scaled(const mg_lstm_scale *s, int32_t sum)
{
    const int32_t product = mg_smmulr(mg_shift_right(sum, s->before), s->multiplier);
    return mg_shift_right(product + s->half + (mg_shift_right(product, 31) & s->ties), s->after);
}

/* Stores the arguments of the functions of two cells' gates in Q3.12. The gates are `apart`. */
MG_INLINE void mg_lstm_s8_paired_arguments(const mg_lstm_s8_paired_layer *layer,
                                           const int32_t *of_input, const int32_t *of_state,
                                           int16_t *to, int32_t apart)
{
    for (int32_t gate = 0; gate < MG_LSTM_GATES; gate++) {
        const mg_lstm_scale *const s = layer->scale[gate];
        int16_t *const at = &to[gate * apart];
        const int32_t first = mg_as_s16(mg_lstm_scaled(&s[0], of_input[gate]));
        const int32_t second = mg_as_s16(mg_lstm_scaled(&s[0], of_input[gate + MG_LSTM_GATES]));
        at[0] = (int16_t)mg_as_s16(first + mg_lstm_scaled(&s[1], of_state[gate]));
        at[1] = (int16_t)mg_as_s16(second + mg_lstm_scaled(&s[1], of_state[gate + MG_LSTM_GATES]));
    }
}

/* The arguments of the gates of `pairs` pairs of cells, which begin with pair `pair`. */
MG_INLINE void mg_lstm_s8_paired_gates(const mg_lstm_s8_paired_layer *layer,
                                       const mg_lstm_s8_paired_rows *rows, int32_t pair,
                                       int32_t pairs, int16_t *gates)
{
    const int32_t first = MG_LSTM_SUMS * pair;
    const int32_t *input = &layer->input[first * layer->input_steps];
    const int32_t *state = &layer->recurrent[first * layer->state_steps];
    int32_t x[MG_LSTM_SUMS];
    int32_t h[MG_LSTM_SUMS];

    for (int32_t i = 0; i < pairs; i++) {
        const int32_t at = first + MG_LSTM_SUMS * i;
        input = mg_lstm_s8_paired_sums(x, &layer->bias[at], rows->input, input, layer->input_steps);
        state = mg_lstm_s8_paired_sums(h, &layer->recurrent_bias[at], rows->state, state,
                                       layer->state_steps);
        mg_lstm_s8_paired_arguments(layer, x, h, &gates[2 * i], 2 * pairs);
    }
}

/* The gates' functions of `cells` cells, an even number, in place of their arguments. */
MG_ONCE void mg_lstm_s8_paired_functions(const mg_gate_tables *tables, int16_t *gates,
                                         int32_t cells)
{
    mg_gate_logistic(tables, gates, (MG_LSTM_GATES - 1) * cells);
}

MG_ONCE void mg_lstm_s8_paired_tanh(const mg_gate_tables *tables, int16_t *values, int32_t count,
                                    int32_t integer_bits)
{
    mg_gate_tanh(tables, values, count, integer_bits);
}

/* Updates `count` cells from their gates, which are `apart`: input, forget, output, cell. */
MG_INLINE void mg_lstm_s8_paired_update(const mg_lstm_s8_paired_params *p,
                                        const mg_gate_tables *tables, int16_t *gates, int32_t apart,
                                        int32_t count, int16_t *cell_state, int8_t *output)
{
    const int16_t *const show = &gates[2 * apart];
    const int32_t right = -p->hidden_shift;
    const int32_t half = mg_shift_left(1, right - 1);

    for (int32_t i = 0; i < count; i++) {
        cell_state[i] = (int16_t)mg_lstm_s8_cell(p, cell_state[i], gates[apart + i], gates[i],
                                                 gates[3 * apart + i]);
        gates[i] = cell_state[i];
    }
    mg_lstm_s8_paired_tanh(tables, gates, count, p->cell_bits);
    for (int32_t i = 0; i < count; i++) {
        const int32_t hidden =
            mg_smmulr(mg_shift_left(show[i] * gates[i], 1), p->hidden_multiplier);
        const int32_t scaled = mg_shift_right(hidden + half + mg_gate_sign(hidden), right);
        output[i] = mg_offset_and_clamp(scaled, p->hidden_offset, INT8_MIN, INT8_MAX);
    }
}

/* Computes one step of one sequence. */
MG_INLINE void mg_lstm_s8_paired_step(const mg_lstm_s8_paired_params *p,
                                      const mg_lstm_s8_paired_layer *layer,
                                      const mg_lstm_s8_paired_rows *rows, const int8_t *input,
                                      int8_t *state, int16_t *cell_state, int8_t *output)
{
    int16_t gates[MG_LSTM_GATES * MG_LSTM_CELLS];

    mg_dense_s8_paired_row(input, p->features, rows->input);
    mg_dense_s8_paired_row(state, p->cells, rows->state);
    for (int32_t cell = 0; cell < p->cells; cell += MG_LSTM_CELLS) {
        const int32_t left = p->cells - cell;
        const int32_t count = (left < MG_LSTM_CELLS) ? left : MG_LSTM_CELLS;
        const int32_t apart = count + count % 2;
        mg_lstm_s8_paired_gates(layer, rows, cell / 2, apart / 2, gates);
        mg_lstm_s8_paired_functions(&layer->tables, gates, apart);
        mg_lstm_s8_paired_tanh(&layer->tables, &gates[3 * apart], apart, 3);
        mg_lstm_s8_paired_update(p, &layer->tables, gates, apart, count, &cell_state[cell],
                                 &output[cell]);
    }
    (void)memcpy(state, output, (size_t)p->cells);
}

MG_INLINE void mg_lstm_s8_paired_body(const mg_lstm_s8_paired_params *p, const int8_t *input,
                                      int8_t *output_state, int16_t *cell_state,
                                      const int32_t *input_weight, const int32_t *recurrent_weight,
                                      const int32_t *bias, const int32_t *recurrent_bias,
                                      const int16_t *exponential, const int32_t *factor,
                                      int8_t *output, uint8_t *scratch)
{
    /* The cell gate is the last one, after those whose function is the logistic one. */
    static const int8_t gate[MG_LSTM_GATES] = {MG_LSTM_INPUT, MG_LSTM_FORGET, MG_LSTM_OUTPUT,
                                               MG_LSTM_CELL};
    mg_lstm_s8_paired_layer layer = {
        input_weight,          recurrent_weight,      bias,
        recurrent_bias,        {exponential, factor}, {{{0, 0, 0, 0, 0}}},
        (p->features + 3) / 4, (p->cells + 3) / 4};
    uint32_t *const words = (uint32_t *)(void *)scratch;
    const mg_lstm_s8_paired_rows rows = {words, words + 2 * layer.input_steps};

    for (int32_t i = 0; i < MG_LSTM_GATES; i++) {
        layer.scale[i][0] = mg_lstm_scale_of(p->input_multiplier[gate[i]], p->input_shift[gate[i]]);
        layer.scale[i][1] =
            mg_lstm_scale_of(p->recurrent_multiplier[gate[i]], p->recurrent_shift[gate[i]]);
    }
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t t = 0; t < p->steps; t++) {
            const int32_t row = (p->time_major != 0) ? t * p->batches + n : n * p->steps + t;
            mg_lstm_s8_paired_step(p, &layer, &rows, &input[row * p->features],
                                   &output_state[n * p->cells], &cell_state[n * p->cells],
                                   &output[row * p->cells]);
        }
    }
}

#ifdef MG_LSTM_S8_PAIRED_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_lstm_s8_paired,
               (p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                recurrent_bias, exponential, factor, output, scratch),
               const mg_lstm_s8_paired_params *p, const int8_t *input, int8_t *output_state,
               int16_t *cell_state, const int32_t *input_weight, const int32_t *recurrent_weight,
               const int32_t *bias, const int32_t *recurrent_bias, const int16_t *exponential,
               const int32_t *factor, int8_t *output, uint8_t *scratch)
#endif

#endif
