/* SPDX-License-Identifier: Apache-2.0 */
/* Hybrid recurrent layers over sequences, in one direction: float32 with int8 weights, whose
 * products are computed in integers. Simple ones, GRU and LSTM. */
#ifndef MICROGEN_RECURRENT_HYBRID_F32_H
#define MICROGEN_RECURRENT_HYBRID_F32_H

#include <string.h>

#include "microgen/blocks/dsp.h"
#include "microgen/blocks/hybrid.h"
#include "microgen/recurrent/recurrent_f32.h"

typedef struct {
    int32_t kind; /* MG_RECURRENT_RNN, MG_RECURRENT_GRU or MG_RECURRENT_LSTM */
    MG_RECURRENT_SEQUENCES
    int32_t asymmetric;       /* 1: rows are quantized with a zero point */
    int32_t input_scales;     /* 1: input_scale has one scale for each row; 0: one for all */
    int32_t recurrent_scales; /* the same of recurrent_scale */
    MG_RECURRENT_ACTIVATIONS
} mg_recurrent_hybrid_f32_params;

/* Computes output from input [steps][batches][features]: if p->keeps [steps][batches][cells], the
 * hidden states; then [batches][cells], the last hidden states; then, of an LSTM, the same of the
 * cell states. hidden and cell [batches][cells], the states before the first step, may be NULL.
 *
 * input_weight [gates][cells][features] and recurrent_weight [gates][cells][cells] have the scales
 * input_scale and recurrent_scale; either is NULL if the weights are floats, which have the same
 * shape. bias is [gates][cells], with one row more if a GRU resets_after.
 *
 * scratch must have space for `cells` floats, of a GRU twice as many, then `features` and `cells`
 * int16. No two buffers may overlap. Sums of products must fit int32, partial sums included. */
#define MG_RECURRENT_HYBRID_F32_PROTOTYPE(symbol, params)                                          \
    void symbol(const params *p, const float *input, const float *hidden, const float *cell,       \
                const int8_t *input_weight, const float *input_scale, const float *input_floats,   \
                const int8_t *recurrent_weight, const float *recurrent_scale,                      \
                const float *recurrent_floats, const float *bias, float *output, uint8_t *scratch)
MG_EXTERN MG_RECURRENT_HYBRID_F32_PROTOTYPE(mg_recurrent_hybrid_f32,
                                            mg_recurrent_hybrid_f32_params);

/* The same with the Arm DSP extension: two products at a time. */
typedef mg_recurrent_hybrid_f32_params mg_recurrent_hybrid_f32_dsp_params;
MG_EXTERN MG_RECURRENT_HYBRID_F32_PROTOTYPE(mg_recurrent_hybrid_f32_dsp,
                                            mg_recurrent_hybrid_f32_dsp_params);

/* Weights [gates][cells][columns]. */
typedef struct {
    const int8_t *weight; /* NULL: they are floats */
    const float *scale;
    const float *floats;
    int32_t has_scales; /* 1: a scale for each row; 0: one for all */
    int32_t columns;
    int dsp; /* 1: with the DSP extension; a constant */
} mg_recurrent_hybrid_matrix;

/* A vector that they are multiplied with. */
typedef struct {
    const float *values;
    const int16_t *row; /* if the weights are int8: the quantized values, plus their offset; with
                           the DSP extension each four in the order 0, 2, 1, 3 */
    float scale;
} mg_recurrent_hybrid_vector;

typedef struct {
    mg_recurrent_hybrid_matrix input;
    mg_recurrent_hybrid_matrix recurrent;
    const float *bias;
} mg_recurrent_hybrid_weights;

/* One sequence while it is computed. */
typedef struct {
    float *state; /* [cells], the hidden state */
    float *cell;  /* LSTM: [cells] */
    float *next;  /* [cells] */
    float *reset; /* GRU: [cells] */
    int16_t *row; /* [features] */
    int16_t *own; /* [cells] */
} mg_recurrent_hybrid_states;

/* Quantizes the values into row [m->columns], if the weights are int8. */
MG_INLINE mg_recurrent_hybrid_vector mg_recurrent_hybrid_vector_of(
    const mg_recurrent_hybrid_f32_params *p, const mg_recurrent_hybrid_matrix *m,
    const float *values, int16_t *row)
{
    mg_recurrent_hybrid_vector vector = {values, row, 1.0F};

    if (m->weight != NULL) {
        /* They are bytes in the second half of the row first, so that each is read before it is
         * overwritten. */
        int8_t *bytes = &((int8_t *)row)[m->columns];
        const mg_hybrid meaning = mg_quantize_hybrid(values, m->columns, p->asymmetric, bytes);
        vector.scale = meaning.scale;
        for (int32_t i = 0; i < m->columns; i++) {
            row[i] = (int16_t)(bytes[i] + meaning.offset);
        }
        for (int32_t i = 0; (m->dsp != 0) && (i < m->columns - 3); i += 4) {
            const int16_t second = row[i + 1];
            row[i + 1] = row[i + 2];
            row[i + 2] = second;
        }
    }
    return vector;
}

/* Adds products of a value with the weights of up to four gates, which are `apart`. */
MG_INLINE mg_sums_hybrid mg_recurrent_hybrid_added(mg_sums_hybrid sums, int32_t value,
                                                   const int8_t *weight, int32_t apart, int gates)
{
    sums.a += value * weight[0];
    if (gates > 1) {
        sums.b += value * weight[apart];
    }
    if (gates > 2) {
        sums.c += value * weight[2 * apart];
        sums.d += value * weight[3 * apart];
    }
    return sums;
}

/* Adds the products of four values with the weights of one gate. */
MG_INLINE int32_t mg_recurrent_hybrid_four(int32_t sum, uint32_t even, uint32_t odd,
                                           const int8_t *weight)
{
    const uint32_t word = mg_load_4_s8(weight);
    return mg_smlad(odd, mg_sxtb16_odd(word), mg_smlad(even, mg_sxtb16(word), sum));
}

/* The sums of the products of a row with the weights of up to four gates. */
MG_INLINE mg_sums_hybrid mg_recurrent_hybrid_sums(const mg_recurrent_hybrid_matrix *m,
                                                  const int16_t *row, const int8_t *weight,
                                                  int32_t apart, int gates)
{
    mg_sums_hybrid sums = {0, 0, 0, 0};
    int32_t i = 0;

    if (m->dsp != 0) {
        for (; i < m->columns - 3; i += 4) {
            uint32_t even;
            uint32_t odd;
            (void)memcpy(&even, &row[i], sizeof(even));
            (void)memcpy(&odd, &row[i + 2], sizeof(odd));
            sums.a = mg_recurrent_hybrid_four(sums.a, even, odd, &weight[i]);
            if (gates > 1) {
                sums.b = mg_recurrent_hybrid_four(sums.b, even, odd, &weight[i + apart]);
            }
            if (gates > 2) {
                sums.c = mg_recurrent_hybrid_four(sums.c, even, odd, &weight[i + 2 * apart]);
                sums.d = mg_recurrent_hybrid_four(sums.d, even, odd, &weight[i + 3 * apart]);
            }
        }
    } else {
        /* Two at a time, because compilers do not unroll it. */
        for (; i < m->columns - 1; i += 2) {
            sums = mg_recurrent_hybrid_added(sums, row[i], &weight[i], apart, gates);
            sums = mg_recurrent_hybrid_added(sums, row[i + 1], &weight[i + 1], apart, gates);
        }
    }
    for (; i < m->columns; i++) {
        sums = mg_recurrent_hybrid_added(sums, row[i], &weight[i], apart, gates);
    }
    return sums;
}

/* The value of a sum of the weights' row `row`. */
MG_INLINE float mg_recurrent_hybrid_scaled(const mg_recurrent_hybrid_matrix *m, int32_t row,
                                           float scale, int32_t sum)
{
    return (float)sum * (scale * m->scale[(m->has_scales != 0) ? row : 0]);
}

/* The products of a vector with the rows `row`, `row` + cells, ... of the weights. `gates`, 1, 2 or
 * 4, is a constant. */
MG_INLINE mg_recurrent_f32_sums mg_recurrent_hybrid_products(const mg_recurrent_hybrid_matrix *m,
                                                             const mg_recurrent_hybrid_vector *v,
                                                             int32_t row, int32_t cells, int gates)
{
    const int32_t first = row * m->columns;
    const int32_t apart = cells * m->columns;
    mg_recurrent_f32_sums scaled = {0.0F, 0.0F, 0.0F, 0.0F};

    if (m->weight == NULL) {
        return mg_recurrent_f32_products(v->values, &m->floats[first], m->columns, apart, gates);
    }
    const mg_sums_hybrid sums =
        mg_recurrent_hybrid_sums(m, v->row, &m->weight[first], apart, gates);
    scaled.a = mg_recurrent_hybrid_scaled(m, row, v->scale, sums.a);
    if (gates > 1) {
        scaled.b = mg_recurrent_hybrid_scaled(m, row + cells, v->scale, sums.b);
    }
    if (gates > 2) {
        scaled.c = mg_recurrent_hybrid_scaled(m, row + 2 * cells, v->scale, sums.c);
        scaled.d = mg_recurrent_hybrid_scaled(m, row + 3 * cells, v->scale, sums.d);
    }
    return scaled;
}

/* The layer's function at a place in its formulas: 0 is f, 1 is g, 2 is h. */
MG_INLINE float mg_recurrent_hybrid_function(const mg_recurrent_hybrid_f32_params *p, int place,
                                             float x)
{
    if (MG_IS_KNOWN(p->function[place])) {
        return mg_recurrent_f32_of(p->function[place], p->alpha[place], p->beta[place], x);
    }
    return mg_recurrent_function(p->function[place], p->alpha[place], p->beta[place], x);
}

/* Each step below leaves the new hidden state in `next`. x and h are the step's input and the
 * hidden state. */

MG_INLINE void mg_recurrent_hybrid_rnn(const mg_recurrent_hybrid_f32_params *p,
                                       const mg_recurrent_hybrid_weights *w,
                                       const mg_recurrent_hybrid_vector *x,
                                       const mg_recurrent_hybrid_vector *h,
                                       const mg_recurrent_hybrid_states *s)
{
    for (int32_t c = 0; c < p->cells; c++) {
        const float sum = mg_recurrent_hybrid_products(&w->input, x, c, p->cells, 1).a +
                          mg_recurrent_hybrid_products(&w->recurrent, h, c, p->cells, 1).a;
        s->next[c] = mg_recurrent_hybrid_function(p, 0, sum + w->bias[c]);
    }
}

MG_INLINE void mg_recurrent_hybrid_gru(const mg_recurrent_hybrid_f32_params *p,
                                       const mg_recurrent_hybrid_weights *w,
                                       const mg_recurrent_hybrid_vector *x,
                                       const mg_recurrent_hybrid_vector *h,
                                       const mg_recurrent_hybrid_states *s)
{
    mg_recurrent_hybrid_vector kept = *h;

    for (int32_t c = 0; c < p->cells; c++) {
        const mg_recurrent_f32_sums from =
            mg_recurrent_hybrid_products(&w->input, x, c, p->cells, 2);
        const mg_recurrent_f32_sums own =
            mg_recurrent_hybrid_products(&w->recurrent, h, c, p->cells, 2);
        s->next[c] = mg_recurrent_hybrid_function(p, 0, from.a + own.a + w->bias[c]);
        s->reset[c] = mg_recurrent_hybrid_function(p, 0, from.b + own.b + w->bias[p->cells + c]);
    }
    if (p->resets_after == 0) {
        for (int32_t c = 0; c < p->cells; c++) {
            s->reset[c] *= s->state[c];
        }
        kept = mg_recurrent_hybrid_vector_of(p, &w->recurrent, s->reset, s->own);
    }
    for (int32_t c = 0; c < p->cells; c++) {
        const int32_t row = 2 * p->cells + c; /* of the third gate */
        const float keep = s->next[c];
        const float from = mg_recurrent_hybrid_products(&w->input, x, row, p->cells, 1).a;
        const float own = mg_recurrent_hybrid_products(&w->recurrent, &kept, row, p->cells, 1).a;
        const float old =
            (p->resets_after != 0) ? s->reset[c] * (own + w->bias[row + p->cells]) : own;
        const float change = mg_recurrent_hybrid_function(p, 1, from + w->bias[row] + old);
        s->next[c] = keep * s->state[c] + (1.0F - keep) * change;
    }
}

MG_INLINE void mg_recurrent_hybrid_lstm(const mg_recurrent_hybrid_f32_params *p,
                                        const mg_recurrent_hybrid_weights *w,
                                        const mg_recurrent_hybrid_vector *x,
                                        const mg_recurrent_hybrid_vector *h,
                                        const mg_recurrent_hybrid_states *s)
{
    for (int32_t c = 0; c < p->cells; c++) {
        const float *bias = &w->bias[c];
        const mg_recurrent_f32_sums from =
            mg_recurrent_hybrid_products(&w->input, x, c, p->cells, 4);
        const mg_recurrent_f32_sums own =
            mg_recurrent_hybrid_products(&w->recurrent, h, c, p->cells, 4);
        const float take = mg_recurrent_hybrid_function(p, 0, from.a + own.a + bias[0]);
        const float give = mg_recurrent_hybrid_function(p, 0, from.b + own.b + bias[p->cells]);
        const float keep = mg_recurrent_hybrid_function(p, 0, from.c + own.c + bias[2 * p->cells]);
        const float change =
            mg_recurrent_hybrid_function(p, 1, from.d + own.d + bias[3 * p->cells]);
        s->cell[c] = keep * s->cell[c] + take * change;
        s->next[c] = give * mg_recurrent_hybrid_function(p, 2, s->cell[c]);
    }
}

/* One step: the new hidden state is in `state`. */
MG_INLINE void mg_recurrent_hybrid_step(const mg_recurrent_hybrid_f32_params *p,
                                        const mg_recurrent_hybrid_weights *w, const float *input,
                                        const mg_recurrent_hybrid_states *s)
{
    const mg_recurrent_hybrid_vector x = mg_recurrent_hybrid_vector_of(p, &w->input, input, s->row);
    const mg_recurrent_hybrid_vector h =
        mg_recurrent_hybrid_vector_of(p, &w->recurrent, s->state, s->own);

    if (p->kind == MG_RECURRENT_RNN) {
        mg_recurrent_hybrid_rnn(p, w, &x, &h, s);
    } else if (p->kind == MG_RECURRENT_GRU) {
        mg_recurrent_hybrid_gru(p, w, &x, &h, s);
    } else {
        mg_recurrent_hybrid_lstm(p, w, &x, &h, s);
    }
    (void)memcpy(s->state, s->next, (size_t)p->cells * sizeof(float));
}

/* One sequence, whose hidden states are output if all are kept. */
MG_INLINE void mg_recurrent_hybrid_sequence(const mg_recurrent_hybrid_f32_params *p,
                                            const mg_recurrent_hybrid_weights *w,
                                            const float *input, float *output,
                                            const mg_recurrent_hybrid_states *s)
{
    for (int32_t step = 0; step < p->steps; step++) {
        const int32_t t = (p->reverse != 0) ? p->steps - 1 - step : step;
        mg_recurrent_hybrid_step(p, w, &input[t * p->batches * p->features], s);
        if (p->keeps != 0) {
            (void)memcpy(&output[t * p->batches * p->cells], s->state,
                         (size_t)p->cells * sizeof(float));
        }
    }
}

/* The body of both kernels. */
MG_INLINE void mg_recurrent_hybrid_run(const mg_recurrent_hybrid_f32_params *p,
                                       const mg_recurrent_hybrid_weights *w, const float *input,
                                       const float *hidden, const float *cell, float *output,
                                       uint8_t *scratch)
{
    float *next = (float *)(void *)scratch;
    float *reset = &next[(p->kind == MG_RECURRENT_GRU) ? p->cells : 0];
    int16_t *row = (int16_t *)(void *)&reset[p->cells];
    float *last = &output[(p->keeps != 0) ? p->steps * p->batches * p->cells : 0];

    for (int32_t n = 0; n < p->batches; n++) {
        const int32_t first = n * p->cells;
        mg_recurrent_hybrid_states s = {&last[first], NULL, next, reset, row, &row[p->features]};
        mg_recurrent_f32_start(s.state, (hidden != NULL) ? &hidden[first] : NULL, p->cells);
        if (p->kind == MG_RECURRENT_LSTM) {
            s.cell = &last[p->batches * p->cells + first];
            mg_recurrent_f32_start(s.cell, (cell != NULL) ? &cell[first] : NULL, p->cells);
        }
        mg_recurrent_hybrid_sequence(p, w, &input[n * p->features], &output[first], &s);
    }
}

#define MG_RECURRENT_HYBRID_F32_BODY(symbol, dsp)                                                  \
    MG_INLINE MG_RECURRENT_HYBRID_F32_PROTOTYPE(symbol##_body, symbol##_params)                    \
    {                                                                                              \
        const mg_recurrent_hybrid_weights w = {                                                    \
            {input_weight, input_scale, input_floats, p->input_scales, p->features, dsp},          \
            {recurrent_weight, recurrent_scale, recurrent_floats, p->recurrent_scales, p->cells,   \
             dsp},                                                                                 \
            bias};                                                                                 \
        mg_recurrent_hybrid_run(p, &w, input, hidden, cell, output, scratch);                      \
    }

MG_RECURRENT_HYBRID_F32_BODY(mg_recurrent_hybrid_f32, 0)
MG_RECURRENT_HYBRID_F32_BODY(mg_recurrent_hybrid_f32_dsp, 1)

#ifdef MG_RECURRENT_HYBRID_F32_IMPLEMENTATION /* the out-of-line forms */
#define MG_RECURRENT_HYBRID_F32_SHARED(symbol)                                                     \
    MG_IF_WANTED(symbol)                                                                           \
    (MG_RECURRENT_HYBRID_F32_PROTOTYPE(symbol, symbol##_params) {                                  \
        symbol##_body(p, input, hidden, cell, input_weight, input_scale, input_floats,             \
                      recurrent_weight, recurrent_scale, recurrent_floats, bias, output, scratch); \
    })
MG_RECURRENT_HYBRID_F32_SHARED(mg_recurrent_hybrid_f32)
MG_RECURRENT_HYBRID_F32_SHARED(mg_recurrent_hybrid_f32_dsp)
#endif

#endif
