/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of recurrent_f32.h for MVE with floats, four cells at a time: of an LSTM, and of a GRU
 * that resets after the product. Cores without MVE compute nothing here. */
#ifndef MICROGEN_RECURRENT_STEPS_MVE_H
#define MICROGEN_RECURRENT_STEPS_MVE_H

#include "microgen/recurrent/lstm_f32_mve.h"
#include "microgen/recurrent/recurrent_f32_types.h"

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)

/* The new states of four cells of a GRU, from the sums of its update and reset gates, and from
 * those of the hidden gate over the input and over the state. */
MG_INLINE float32x4_t mg_recurrent_f32_gru_cells(mg_mve_sums_f32 sums, float32x4_t before)
{
    const float32x4_t keep = mg_mve_sigmoid_f32(sums.p);
    const float32x4_t change =
        mg_mve_tanh_f32(vfmaq_f32(sums.r, mg_mve_sigmoid_f32(sums.q), sums.s));
    return vfmaq_f32(change, keep, vsubq_f32(before, change));
}

/* The same of an LSTM, from the sums of its input, output, forget and cell gates. */
MG_INLINE float32x4_t mg_recurrent_f32_lstm_cells(mg_mve_sums_f32 sums, float *cell,
                                                  mve_pred16_t active)
{
    const float32x4_t taken = vmulq_f32(mg_mve_sigmoid_f32(sums.p), mg_mve_tanh_f32(sums.s));
    const float32x4_t after =
        vfmaq_f32(taken, mg_mve_sigmoid_f32(sums.r), vldrwq_z_f32(cell, active));

    vstrwq_p_f32(cell, after, active);
    return vmulq_f32(mg_mve_sigmoid_f32(sums.q), mg_mve_tanh_f32(after));
}

/* One step: the new hidden state is in `state`. Weights are in the order of mg_lstm_f32_mve, in
 * four rows of gates: a GRU's are update, reset, and hidden, which the input has in the third row
 * and the state in the last one. */
MG_INLINE void mg_recurrent_f32_vectors(const mg_recurrent_f32_params *p,
                                        const mg_recurrent_f32_weights *w, const float *input,
                                        const mg_recurrent_f32_states *s, int is_gru)
{
    for (int32_t c = 0; c < p->cells; c += MG_MVE_FLOATS) {
        const int32_t block = MG_LSTM_F32_GATES * c;
        const mve_pred16_t active = vctp32q((uint32_t)(p->cells - c));
        mg_mve_sums_f32 sums = mg_lstm_f32_mve_start(&w->bias[c], p->cells, active);
        sums = mg_mve_dot_wide_f32(sums, input, &w->input[block * p->features], p->features);
        sums = mg_mve_dot_wide_f32(sums, s->state, &w->recurrent[block * p->cells], p->cells);
        const float32x4_t next =
            (is_gru != 0) ? mg_recurrent_f32_gru_cells(sums, vldrwq_z_f32(&s->state[c], active))
                          : mg_recurrent_f32_lstm_cells(sums, &s->cell[c], active);
        vstrwq_p_f32(&s->scratch[c], next, active);
    }
    (void)memcpy(s->state, s->scratch, (size_t)p->cells * sizeof(float));
}

#else

MG_INLINE void mg_recurrent_f32_vectors(const mg_recurrent_f32_params *p,
                                        const mg_recurrent_f32_weights *w, const float *input,
                                        const mg_recurrent_f32_states *s, int is_gru)
{
    (void)p;
    (void)w;
    (void)input;
    (void)s;
    (void)is_gru;
}

#endif

#endif
