/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent layers over sequences, in one direction, float32: simple ones, GRU and LSTM. */
#ifndef MICROGEN_RECURRENT_F32_H
#define MICROGEN_RECURRENT_F32_H

#include <stddef.h>
#include <string.h>

#include "microgen/arithmetic/clamp.h"
#include "microgen/arithmetic/float_hyperbolic.h"
#include "microgen/arithmetic/float_math.h"
#include "microgen/recurrent/recurrent_f32_types.h"
#include "microgen/recurrent/recurrent_steps_mve.h"

/* The kinds: f(sum); update, reset and hidden gates; input, output, forget and cell gates. Each has
 * a kernel for the usual functions, and one for any. */
#define MG_RECURRENT_RNN 0  /* mg_recurrent_rnn_f32, mg_recurrent_rnn_any_f32 */
#define MG_RECURRENT_GRU 1  /* mg_recurrent_gru_f32, mg_recurrent_gru_any_f32 */
#define MG_RECURRENT_LSTM 2 /* mg_recurrent_lstm_f32, mg_recurrent_lstm_any_f32 */

/* Whether the functions are the usual ones, tanh; sigmoid, tanh; or sigmoid, tanh, tanh. */
#define MG_RECURRENT_USUAL 1
#define MG_RECURRENT_ANY 0
#define MG_RECURRENT_VECTORS 2 /* the usual ones, by recurrent_steps_mve.h */

/* The functions. The numbers in the formulas of the last ones are alpha and beta. */
enum {
    MG_RECURRENT_RELU,
    MG_RECURRENT_TANH,
    MG_RECURRENT_SIGMOID,
    MG_RECURRENT_AFFINE,
    MG_RECURRENT_LEAKY_RELU,
    MG_RECURRENT_THRESHOLDED_RELU,
    MG_RECURRENT_SCALED_TANH,
    MG_RECURRENT_HARD_SIGMOID,
    MG_RECURRENT_ELU,
    MG_RECURRENT_SOFTSIGN,
    MG_RECURRENT_SOFTPLUS,
};

/* The sums of up to four gates. */
typedef struct {
    float a;
    float b;
    float c;
    float d;
} mg_recurrent_f32_sums;

/* The sums of products of values with the weights of a cell's gates, which are `apart`. Each value
 * is read once for all gates. `gates`, 1, 2 or 4, is a constant. */
MG_INLINE mg_recurrent_f32_sums mg_recurrent_f32_products(const float *values, const float *weight,
                                                          int32_t count, int32_t apart, int gates)
{
    mg_recurrent_f32_sums sums = {0.0F, 0.0F, 0.0F, 0.0F};

    for (int32_t i = 0; i < count; i++) {
        const float value = values[i];
        sums.a += value * weight[i];
        if (gates > 1) {
            sums.b += value * weight[apart + i];
        }
        if (gates > 2) {
            sums.c += value * weight[2 * apart + i];
            sums.d += value * weight[3 * apart + i];
        }
    }
    return sums;
}

/* Large functions outside of the innermost loops, which the code has only once. */

MG_ONCE float mg_recurrent_sigmoid(float x)
{
    return mg_f32_sigmoid(x);
}

MG_ONCE float mg_recurrent_tanh(float x)
{
    return mg_f32_tanh(x);
}

MG_ONCE float mg_recurrent_expm1(float x)
{
    return mg_f32_expm1(x);
}

MG_ONCE float mg_recurrent_softplus(float x)
{
    return mg_f32_softplus(x);
}

/* One of the functions of x. */
MG_INLINE float mg_recurrent_f32_of(int32_t which, float alpha, float beta, float x)
{
    switch (which) {
    case MG_RECURRENT_TANH:
        return mg_recurrent_tanh(x);
    case MG_RECURRENT_SIGMOID:
        return mg_recurrent_sigmoid(x);
    case MG_RECURRENT_AFFINE:
        return alpha * x + beta;
    case MG_RECURRENT_LEAKY_RELU:
        return (x < 0.0F) ? alpha * x : x;
    case MG_RECURRENT_THRESHOLDED_RELU:
        return (x > alpha) ? x : 0.0F;
    case MG_RECURRENT_SCALED_TANH:
        return alpha * mg_recurrent_tanh(beta * x);
    case MG_RECURRENT_HARD_SIGMOID:
        return mg_clamp_f32(alpha * x + beta, 0.0F, 1.0F);
    case MG_RECURRENT_ELU:
        return (x < 0.0F) ? alpha * mg_recurrent_expm1(x) : x;
    case MG_RECURRENT_SOFTSIGN:
        return x / (1.0F + mg_f32_abs(x));
    case MG_RECURRENT_SOFTPLUS:
        return mg_recurrent_softplus(x);
    default:
        return (x < 0.0F) ? 0.0F : x;
    }
}

/* The same, for functions that are not known while the code is compiled. It is not inlined, so the
 * code has one table of functions, outside of all loops. */
MG_ONCE float mg_recurrent_function(int32_t which, float alpha, float beta, float x)
{
    return mg_recurrent_f32_of(which, alpha, beta, x);
}

/* The layer's function at a place in its formulas: 0 is f, 1 is g, 2 is h. */
MG_INLINE float mg_recurrent_f32_function(const mg_recurrent_f32_params *p, int place, float x,
                                          int kind, int is_usual)
{
    if (is_usual) {
        return (place == 0 && kind != MG_RECURRENT_RNN) ? mg_recurrent_sigmoid(x)
                                                        : mg_recurrent_tanh(x);
    }
    if (MG_IS_KNOWN(p->function[place])) {
        return mg_recurrent_f32_of(p->function[place], p->alpha[place], p->beta[place], x);
    }
    return mg_recurrent_function(p->function[place], p->alpha[place], p->beta[place], x);
}

/* The value of a gate with a sum. */
MG_INLINE float mg_recurrent_f32_gate(const mg_recurrent_f32_params *p, int place, float sum,
                                      int kind, int is_usual)
{
    return mg_recurrent_f32_function(p, place, mg_clamp_f32(sum, -p->clip, p->clip), kind,
                                     is_usual);
}

/* One step of a simple layer: the new state is in scratch. */
MG_INLINE void mg_recurrent_f32_rnn(const mg_recurrent_f32_params *p,
                                    const mg_recurrent_f32_weights *w, const float *input,
                                    const mg_recurrent_f32_states *s, int is_usual)
{
    for (int32_t c = 0; c < p->cells; c++) {
        const float x =
            mg_recurrent_f32_products(input, &w->input[c * p->features], p->features, 0, 1).a;
        const float h =
            mg_recurrent_f32_products(s->state, &w->recurrent[c * p->cells], p->cells, 0, 1).a;
        s->scratch[c] = mg_recurrent_f32_gate(p, 0, w->bias[c] + x + h, MG_RECURRENT_RNN, is_usual);
    }
}

/* Computes the update gate into the first half of scratch, and the reset gate into the second. The
 * reset gate is multiplied by the state, unless it is needed alone. */
MG_INLINE void mg_recurrent_f32_gru_gates(const mg_recurrent_f32_params *p,
                                          const mg_recurrent_f32_weights *w, const float *input,
                                          const mg_recurrent_f32_states *s, int is_usual)
{
    for (int32_t c = 0; c < p->cells; c++) {
        const mg_recurrent_f32_sums x = mg_recurrent_f32_products(
            input, &w->input[c * p->features], p->features, p->cells * p->features, 2);
        const mg_recurrent_f32_sums h = mg_recurrent_f32_products(
            s->state, &w->recurrent[c * p->cells], p->cells, p->cells * p->cells, 2);
        const float reset = mg_recurrent_f32_gate(p, 0, w->bias[p->cells + c] + x.b + h.b,
                                                  MG_RECURRENT_GRU, is_usual);
        s->scratch[c] =
            mg_recurrent_f32_gate(p, 0, w->bias[c] + x.a + h.a, MG_RECURRENT_GRU, is_usual);
        s->scratch[p->cells + c] = (p->resets_after != 0) ? reset : reset * s->state[c];
    }
}

/* The sum of a cell's hidden gate. */
MG_INLINE float mg_recurrent_f32_gru_sum(const mg_recurrent_f32_params *p,
                                         const mg_recurrent_f32_weights *w, const float *input,
                                         const mg_recurrent_f32_states *s, int32_t c)
{
    const int32_t row = 2 * p->cells + c; /* of the third gate */
    const float *weight = &w->recurrent[row * p->cells];
    const float *reset = &s->scratch[p->cells];
    const float x =
        mg_recurrent_f32_products(input, &w->input[row * p->features], p->features, 0, 1).a;

    if (p->resets_after != 0) {
        const float h = mg_recurrent_f32_products(s->state, weight, p->cells, 0, 1).a;
        return w->bias[row] + x + reset[c] * (w->bias[row + p->cells] + h);
    }
    return w->bias[row] + x + mg_recurrent_f32_products(reset, weight, p->cells, 0, 1).a;
}

/* One step of a GRU. */
MG_INLINE void mg_recurrent_f32_gru(const mg_recurrent_f32_params *p,
                                    const mg_recurrent_f32_weights *w, const float *input,
                                    const mg_recurrent_f32_states *s, int is_usual)
{
    mg_recurrent_f32_gru_gates(p, w, input, s, is_usual);
    for (int32_t c = 0; c < p->cells; c++) {
        const float keep = s->scratch[c];
        const float change = mg_recurrent_f32_gate(
            p, 1, mg_recurrent_f32_gru_sum(p, w, input, s, c), MG_RECURRENT_GRU, is_usual);
        s->scratch[c] = (1.0F - keep) * change + keep * s->state[c];
    }
}

/* What a cell state adds to a gate's sum: the gate is 0 (input), 1 (output) or 2 (forget). */
MG_INLINE float mg_recurrent_f32_seen(const mg_recurrent_f32_params *p,
                                      const mg_recurrent_f32_weights *w, int32_t gate, int32_t c,
                                      float cell)
{
    return (w->peephole != NULL) ? w->peephole[gate * p->cells + c] * cell : 0.0F;
}

/* Updates one cell of an LSTM and returns its output, from the sums of its gates: input, output,
 * forget, cell. */
MG_INLINE float mg_recurrent_f32_lstm_cell(const mg_recurrent_f32_params *p,
                                           const mg_recurrent_f32_weights *w,
                                           mg_recurrent_f32_sums sums, float *cell, int32_t c,
                                           int is_usual)
{
    const float before = *cell;
    const float take = mg_recurrent_f32_gate(
        p, 0, sums.a + mg_recurrent_f32_seen(p, w, 0, c, before), MG_RECURRENT_LSTM, is_usual);
    const float keep =
        (p->couples != 0)
            ? 1.0F - take
            : mg_recurrent_f32_gate(p, 0, sums.c + mg_recurrent_f32_seen(p, w, 2, c, before),
                                    MG_RECURRENT_LSTM, is_usual);
    const float change = mg_recurrent_f32_gate(p, 1, sums.d, MG_RECURRENT_LSTM, is_usual);
    const float after = keep * before + take * change;

    *cell = after;
    return mg_recurrent_f32_gate(p, 0, sums.b + mg_recurrent_f32_seen(p, w, 1, c, after),
                                 MG_RECURRENT_LSTM, is_usual) *
           mg_recurrent_f32_function(p, 2, after, MG_RECURRENT_LSTM, is_usual);
}

/* One step of an LSTM. */
MG_INLINE void mg_recurrent_f32_lstm(const mg_recurrent_f32_params *p,
                                     const mg_recurrent_f32_weights *w, const float *input,
                                     const mg_recurrent_f32_states *s, int is_usual)
{
    for (int32_t c = 0; c < p->cells; c++) {
        const float *bias = &w->bias[c];
        const mg_recurrent_f32_sums x = mg_recurrent_f32_products(
            input, &w->input[c * p->features], p->features, p->cells * p->features, 4);
        const mg_recurrent_f32_sums h = mg_recurrent_f32_products(
            s->state, &w->recurrent[c * p->cells], p->cells, p->cells * p->cells, 4);
        const mg_recurrent_f32_sums sums = {
            bias[0] + x.a + h.a,
            bias[p->cells] + x.b + h.b,
            bias[2 * p->cells] + x.c + h.c,
            bias[3 * p->cells] + x.d + h.d,
        };
        s->scratch[c] = mg_recurrent_f32_lstm_cell(p, w, sums, &s->cell[c], c, is_usual);
    }
}

/* One step: the new hidden state is in `state`. */
MG_INLINE void mg_recurrent_f32_step(const mg_recurrent_f32_params *p,
                                     const mg_recurrent_f32_weights *w, const float *input,
                                     const mg_recurrent_f32_states *s, int kind, int is_usual)
{
    if (kind == MG_RECURRENT_RNN) {
        mg_recurrent_f32_rnn(p, w, input, s, is_usual);
    } else if (kind == MG_RECURRENT_GRU) {
        mg_recurrent_f32_gru(p, w, input, s, is_usual);
    } else {
        mg_recurrent_f32_lstm(p, w, input, s, is_usual);
    }
    (void)memcpy(s->state, s->scratch, (size_t)p->cells * sizeof(float));
}

/* A state before the first step: `initial`, or zeros if that is NULL. */
MG_INLINE void mg_recurrent_f32_start(float *state, const float *initial, int32_t cells)
{
    for (int32_t c = 0; c < cells; c++) {
        state[c] = (initial != NULL) ? initial[c] : 0.0F;
    }
}

/* The number of steps of a sequence. */
MG_INLINE int32_t mg_recurrent_f32_length(const mg_recurrent_f32_params *p, int32_t given)
{
    if (given < 0) {
        return 0;
    }
    return (given > p->steps) ? p->steps : given;
}

/* All steps of a sequence, whose input and output begin at `input` and `output`. A loop fills the
 * output, because calls of memset and memcpy would keep more in registers. */
MG_INLINE void mg_recurrent_f32_sequence(const mg_recurrent_f32_params *p,
                                         const mg_recurrent_f32_weights *w, const float *input,
                                         float *output, const mg_recurrent_f32_states *s,
                                         int32_t length, int kind, int is_usual)
{
    const int32_t row = p->batches * p->cells;
    const int32_t steps = (p->keeps != 0) ? p->steps : length;

    for (int32_t step = 0; step < steps; step++) {
        const int is_inside = step < length;
        const int32_t t = (is_inside && p->reverse != 0) ? length - 1 - step : step;
        if (is_inside && is_usual == MG_RECURRENT_VECTORS) {
            mg_recurrent_f32_vectors(p, w, &input[t * p->batches * p->features], s,
                                     kind == MG_RECURRENT_GRU);
        } else if (is_inside) {
            mg_recurrent_f32_step(p, w, &input[t * p->batches * p->features], s, kind, is_usual);
        }
        for (int32_t c = 0; p->keeps != 0 && c < p->cells; c++) {
            output[t * row + c] = is_inside ? s->state[c] : 0.0F;
        }
    }
}

/* Computes output from input [steps][batches][features]: if p->keeps [steps][batches][cells], the
 * hidden states; then [batches][cells], the last hidden states; then, of an LSTM, the same of the
 * cell states. `lengths` [batches] are the steps of each sequence; the output is 0 beyond them.
 * hidden and cell [batches][cells], the states before the first step, and peephole may be NULL.
 *
 * scratch must have space for `cells` floats, of a GRU twice as many. No two buffers may
 * overlap. */
MG_INLINE void mg_recurrent_f32_body(const mg_recurrent_f32_params *p, const float *input,
                                     const float *input_weight, const float *recurrent_weight,
                                     const float *bias, const int32_t *lengths, const float *hidden,
                                     const float *cell, const float *peephole, float *output,
                                     uint8_t *scratch, int kind, int is_usual)
{
    const mg_recurrent_f32_weights w = {input_weight, recurrent_weight, bias, peephole};
    const int32_t row = p->batches * p->cells;
    float *last = (p->keeps != 0) ? &output[p->steps * row] : output;

    for (int32_t n = 0; n < p->batches; n++) {
        const int32_t first = n * p->cells;
        const int32_t length = mg_recurrent_f32_length(p, lengths[n]);
        mg_recurrent_f32_states s = {&last[first], NULL, (float *)(void *)scratch};
        mg_recurrent_f32_start(s.state, (hidden != NULL && length > 0) ? &hidden[first] : NULL,
                               p->cells);
        if (kind == MG_RECURRENT_LSTM) {
            s.cell = &last[row + first];
            mg_recurrent_f32_start(s.cell, (cell != NULL && length > 0) ? &cell[first] : NULL,
                                   p->cells);
        }
        mg_recurrent_f32_sequence(p, &w, &input[n * p->features], &output[first], &s, length, kind,
                                  is_usual);
    }
}

#define MG_RECURRENT_F32_PROTOTYPE(name)                                                           \
    void name(const mg_recurrent_f32_params *p, const float *input, const float *input_weight,     \
              const float *recurrent_weight, const float *bias, const int32_t *lengths,            \
              const float *hidden, const float *cell, const float *peephole, float *output,        \
              uint8_t *scratch)

#define MG_RECURRENT_F32_KERNEL(name, kind, is_usual)                                              \
    MG_RECURRENT_F32_PROTOTYPE(name);                                                              \
    MG_RECURRENT_F32_PROTOTYPE(name)                                                               \
    {                                                                                              \
        mg_recurrent_f32_body(p, input, input_weight, recurrent_weight, bias, lengths, hidden,     \
                              cell, peephole, output, scratch, kind, is_usual);                    \
    }

#endif
