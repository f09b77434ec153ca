/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, float32. */
#ifndef MICROGEN_LSTM_F32_H
#define MICROGEN_LSTM_F32_H

#include <stddef.h>
#include <string.h>

#include "microgen/arithmetic/clamp.h"
#include "microgen/arithmetic/float_math.h"
#include "microgen/blocks/blocks_f32.h"
#include "microgen/recurrent/lstm.h"

typedef struct {
    MG_LSTM_SIZES
    float cell_clip;       /* largest magnitude of the cell state; the largest float: no limit */
    float projection_clip; /* the same of a projected output */
} mg_lstm_f32_params;

typedef struct {
    MG_LSTM_WEIGHTS(float, float, float)
} mg_lstm_f32_weights;

/* Computes output [batches][steps][outputs] from input [batches][steps][features]. output_state
 * [batches][outputs] and cell_state [batches][cells] are the states before the first step, and
 * become those after the last.
 *
 * scratch must have space for `cells` floats, the hidden state of one step. No two buffers may
 * overlap. */
MG_EXTERN void mg_lstm_f32(const mg_lstm_f32_params *p, const float *input, float *output_state,
                           float *cell_state, const float *input_weight,
                           const float *recurrent_weight, const float *bias, const float *peephole,
                           const float *projection, const float *projection_bias, float *output,
                           uint8_t *scratch);

MG_INLINE float mg_lstm_f32_dot(const float *values, const float *weight, int32_t count)
{
    float sum = 0.0F;

    for (int32_t i = 0; i < count; i++) {
        sum += values[i] * weight[i];
    }
    return sum;
}

/* How the four gates of a cell are summed: one value at a time, or as MG_SEPARATE_F32 and
 * MG_FUSED_F32 say. */
enum {
    MG_LSTM_F32_PLAIN = -1
};

/* The sums of products of values with the weights of a cell's gates: a to d are the input, forget,
 * cell and output gate. `weight` points to those of the first gate. If there is no input gate, its
 * sum is 0. Each value is read once for all gates. */
MG_INLINE mg_sums_f32 mg_lstm_f32_products(const mg_lstm_f32_params *p, const float *values,
                                           const float *weight, int32_t count, int form)
{
    const float *last = &weight[(p->gates - 1) * p->cells * count];
    const float *change = &last[-p->cells * count];
    const float *forget = &change[-p->cells * count];
    mg_sums_f32 sums = {0.0F, 0.0F, 0.0F, 0.0F};

    if (form != MG_LSTM_F32_PLAIN) {
        const mg_filters_f32 gates = {weight, p->cells * count};
        return mg_dot_row_f32(sums, values, gates, count, form);
    }
    for (int32_t i = 0; i < count; i++) {
        const float value = values[i];
        sums.a += (p->gates == 4) ? value * weight[i] : 0.0F;
        sums.b += value * forget[i];
        sums.c += value * change[i];
        sums.d += value * last[i];
    }
    return sums;
}

/* The arguments of the activation functions of a cell's gates, without peepholes. */
MG_INLINE mg_sums_f32 mg_lstm_f32_gates(const mg_lstm_f32_params *p, const mg_lstm_f32_weights *w,
                                        const float *input, const float *state, int32_t cell,
                                        int form)
{
    const float *bias = &w->bias[(p->gates - 1) * p->cells + cell]; /* of the output gate */
    const mg_sums_f32 x =
        mg_lstm_f32_products(p, input, &w->input[cell * p->features], p->features, form);
    const mg_sums_f32 h =
        mg_lstm_f32_products(p, state, &w->recurrent[cell * p->outputs], p->outputs, form);
    const mg_sums_f32 gates = {
        ((p->gates == 4) ? bias[-3 * p->cells] : 0.0F) + x.a + h.a,
        bias[-2 * p->cells] + x.b + h.b,
        bias[-p->cells] + x.c + h.c,
        bias[0] + x.d + h.d,
    };
    return gates;
}

/* The value of the input, forget or output gate. Its peephole reads `cell_state`. */
MG_INLINE float mg_lstm_f32_gate(const mg_lstm_f32_params *p, const mg_lstm_f32_weights *w,
                                 float sum, int32_t gate, int32_t cell, float cell_state)
{
    if (w->peephole != NULL) {
        const int32_t place = (gate > MG_LSTM_CELL) ? gate - 1 : gate;
        sum += cell_state * w->peephole[(place - 4 + p->gates) * p->cells + cell];
    }
    return mg_f32_sigmoid(sum);
}

/* Updates one cell and returns its output. */
MG_INLINE float mg_lstm_f32_update(const mg_lstm_f32_params *p, const mg_lstm_f32_weights *w,
                                   const float *input, const float *state, int32_t cell,
                                   float *cell_state, int form)
{
    const mg_sums_f32 gates = mg_lstm_f32_gates(p, w, input, state, cell, form);
    const float before = *cell_state;
    const float keep = mg_lstm_f32_gate(p, w, gates.b, MG_LSTM_FORGET, cell, before);
    const float take = (p->gates == 4)
                           ? mg_lstm_f32_gate(p, w, gates.a, MG_LSTM_INPUT, cell, before)
                           : 1.0F - keep;
    const float after =
        mg_clamp_f32(keep * before + take * mg_f32_tanh(gates.c), -p->cell_clip, p->cell_clip);

    *cell_state = after;
    return mg_lstm_f32_gate(p, w, gates.d, MG_LSTM_OUTPUT, cell, after) * mg_f32_tanh(after);
}

/* Projects the hidden state into output [outputs]. */
MG_INLINE void mg_lstm_f32_project(const mg_lstm_f32_params *p, const mg_lstm_f32_weights *w,
                                   const float *hidden, float *output)
{
    for (int32_t o = 0; o < p->outputs; o++) {
        const float bias = (w->projection_bias != NULL) ? w->projection_bias[o] : 0.0F;
        const float sum = mg_lstm_f32_dot(hidden, &w->projection[o * p->cells], p->cells);
        output[o] = mg_clamp_f32(bias + sum, -p->projection_clip, p->projection_clip);
    }
}

/* Computes one step of one sequence. */
MG_INLINE void mg_lstm_f32_step(const mg_lstm_f32_params *p, const mg_lstm_f32_weights *w,
                                const float *input, float *state, float *cell_state, float *output,
                                float *hidden, int form)
{
    for (int32_t cell = 0; cell < p->cells; cell++) {
        hidden[cell] = mg_lstm_f32_update(p, w, input, state, cell, &cell_state[cell], form);
    }
    if (w->projection != NULL) {
        mg_lstm_f32_project(p, w, hidden, output);
    } else {
        (void)memcpy(output, hidden, (size_t)p->outputs * sizeof(float));
    }
    (void)memcpy(state, output, (size_t)p->outputs * sizeof(float));
}

/* The arguments of the kernels, and of their bodies. */
#define MG_LSTM_F32_ARGUMENTS                                                                      \
    const mg_lstm_f32_params *p, const float *input, float *output_state, float *cell_state,       \
        const float *input_weight, const float *recurrent_weight, const float *bias,               \
        const float *peephole, const float *projection, const float *projection_bias,              \
        float *output, uint8_t *scratch

/* The body of this kernel and, with other forms, of those for cores with an FPU. */
MG_INLINE void mg_lstm_f32_run(MG_LSTM_F32_ARGUMENTS, int form)
{
    const mg_lstm_f32_weights w = {input_weight, recurrent_weight, bias,
                                   peephole,     projection,       projection_bias};

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t t = 0; t < p->steps; t++) {
            const int32_t row = (p->time_major != 0) ? t * p->batches + n : n * p->steps + t;
            mg_lstm_f32_step(p, &w, &input[row * p->features], &output_state[n * p->outputs],
                             &cell_state[n * p->cells], &output[row * p->outputs],
                             (float *)(void *)scratch, form);
        }
    }
}

MG_INLINE void mg_lstm_f32_body(MG_LSTM_F32_ARGUMENTS)
{
    mg_lstm_f32_run(p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                    peephole, projection, projection_bias, output, scratch, MG_LSTM_F32_PLAIN);
}

#ifdef MG_LSTM_F32_IMPLEMENTATION /* the out-of-line form */
void mg_lstm_f32(const mg_lstm_f32_params *p, const float *input, float *output_state,
                 float *cell_state, const float *input_weight, const float *recurrent_weight,
                 const float *bias, const float *peephole, const float *projection,
                 const float *projection_bias, float *output, uint8_t *scratch)
{
    mg_lstm_f32_body(p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                     peephole, projection, projection_bias, output, scratch);
}
#endif

#endif
