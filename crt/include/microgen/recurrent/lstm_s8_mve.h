/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, int8 with an int16 cell state, for MVE: the gates
 * of four cells at a time. Its functions are those of fixed_point_16.h in the lanes of vectors. */
#ifndef MICROGEN_LSTM_S8_MVE_H
#define MICROGEN_LSTM_S8_MVE_H

#include "microgen/blocks/mve_rows.h"
#include "microgen/recurrent/lstm_s8.h"

typedef mg_lstm_s8_params mg_lstm_s8_mve_params;

/* Computes the same as mg_lstm_s8 with four gates, without peepholes and projection. Sums contain
 * no zero points; the biases [4][cells] of sums over the input and over the output state do.
 * scratch, aligned to 2 bytes, has space for 4 * cells int16. */
MG_EXTERN void mg_lstm_s8_mve(const mg_lstm_s8_mve_params *p, const int8_t *input,
                              int8_t *output_state, int16_t *cell_state, const int8_t *input_weight,
                              const int8_t *recurrent_weight, const int32_t *bias,
                              const int32_t *recurrent_bias, int8_t *output, uint8_t *scratch);

#if defined(__ARM_FEATURE_MVE)

/* mg_saturate_16 of every lane. */
MG_INLINE int32x4_t mg_mve_saturate_16(int32x4_t x)
{
    return vminq_s32(vmaxq_s32(x, vdupq_n_s32(INT16_MIN)), vdupq_n_s32(INT16_MAX));
}

/* mg_multiply_high_16 of every lane. */
MG_INLINE int32x4_t mg_mve_multiply_high_16(int32x4_t a, int32x4_t b)
{
    return vshrq_n_s32(vmlasq_n_s32(a, b, (int32_t)1 << 14), 15);
}

/* mg_divide_by_power_of_two of every lane. */
MG_INLINE int32x4_t mg_mve_divide(int32x4_t x, int32_t exponent)
{
    return vrshlq_n_s32(mg_mve_ties_down(x), -exponent);
}

/* mg_exp_of_quarter_16 of every lane. */
MG_INLINE int32x4_t mg_mve_exp_of_quarter_16(int32x4_t x)
{
    const int32x4_t exp_minus_eighth = vdupq_n_s32(28918);
    const int32x4_t d = vaddq_n_s32(x, (int32_t)1 << 12);
    const int32x4_t d2 = mg_mve_multiply_high_16(d, d);
    const int32x4_t d3 = mg_mve_multiply_high_16(d2, d);
    const int32x4_t d4_over_4 = mg_mve_divide(mg_mve_multiply_high_16(d2, d2), 2);
    const int32x4_t thirds = mg_mve_multiply_high_16(vaddq_s32(d4_over_4, d3), vdupq_n_s32(10923));
    const int32x4_t tail = mg_mve_divide(vaddq_s32(thirds, d2), 1);
    const int32x4_t rest = mg_mve_multiply_high_16(exp_minus_eighth, vaddq_s32(d, tail));
    return mg_mve_saturate_16(vaddq_s32(exp_minus_eighth, rest));
}

/* mg_exp_of_negative_16 of every lane. */
MG_INLINE int32x4_t mg_mve_exp_of_negative_16(int32x4_t x, int32_t integer_bits)
{
    static const int16_t factor[7] = {25520, 19875, 12055, 4435, 600, 11, 0};
    const int32_t factors = (integer_bits > 5) ? 7 : integer_bits + 2;
    /* Bits of a rest, before those of the multiple. By shifts, because GCC 12 fails to compile a
     * conjunction with a constant. */
    const int32_t bits = 13 - integer_bits;
    const uint32x4_t left = vshlq_r_u32(vreinterpretq_u32_s32(x), 32 - bits);
    const int32x4_t low = vreinterpretq_s32_u32(vshlq_r_u32(left, bits - 32));
    const int32x4_t rest = vsubq_n_s32(low, mg_shift_left(1, bits));
    const int32x4_t multiple = vsubq_s32(rest, x);
    int32x4_t result = mg_mve_exp_of_quarter_16(vshlq_r_s32(rest, integer_bits));

    for (int32_t k = 0; k < factors; k++) {
        const int32x4_t bit = vshlq_r_s32(multiple, 31 - bits - k); /* is the sign now */
        const int32x4_t scaled = mg_mve_multiply_high_16(result, vdupq_n_s32(factor[k]));
        result = vpselq_s32(scaled, result, vcmpltq_n_s32(bit, 0));
    }
    if (integer_bits > 5) {
        const int32_t least = -mg_shift_left(32, 15 - integer_bits);
        result = vdupq_m_n_s32(result, 0, vcmpltq_n_s32(x, least));
    }
    return vdupq_m_n_s32(result, INT16_MAX, vcmpeqq_n_s32(x, 0));
}

/* mg_twice_the_inverse_16 of every lane. */
MG_INLINE int32x4_t mg_mve_twice_the_inverse_16(int32x4_t x)
{
    const int32x4_t half = vshrq_n_s32(vaddq_n_s32(x, INT16_MAX + 1), 1);
    int32x4_t estimate = vaddq_n_s32(mg_mve_multiply_high_16(half, vdupq_n_s32(-15420)), 23130);

    for (int32_t step = 0; step < 3; step++) {
        const int32x4_t product = mg_mve_multiply_high_16(half, estimate);
        const int32x4_t error = vsubq_s32(vdupq_n_s32((int32_t)1 << 13), product);
        const int32x4_t change = mg_mve_multiply_high_16(estimate, error);
        estimate = vaddq_s32(estimate, vshlq_n_s32(change, 2));
    }
    return estimate;
}

/* mg_logistic_16 of every lane. */
MG_INLINE int32x4_t mg_mve_logistic_16(int32x4_t x)
{
    const int32x4_t exponential = mg_mve_exp_of_negative_16(vnegq_s32(vabsq_s32(x)), 3);
    const int32x4_t twice = mg_mve_twice_the_inverse_16(exponential);
    const int32x4_t positive = mg_mve_saturate_16(vaddq_s32(twice, twice));
    const int32x4_t result =
        vsubq_m_s32(positive, vdupq_n_s32(INT16_MAX), positive, vcmpltq_n_s32(x, 0));
    return vdupq_m_n_s32(result, (int32_t)1 << 14, vcmpeqq_n_s32(x, 0));
}

/* mg_tanh_16 of every lane. */
MG_INLINE int32x4_t mg_mve_tanh_16(int32x4_t x, int32_t integer_bits)
{
    const int32x4_t exponential =
        mg_mve_exp_of_negative_16(vnegq_s32(vabsq_s32(x)), integer_bits + 1);
    const int32x4_t rest = vsubq_n_s32(mg_mve_twice_the_inverse_16(exponential), (int32_t)1 << 13);
    const int32x4_t positive = mg_mve_saturate_16(vshlq_n_s32(rest, 2));
    const int32x4_t result = vnegq_m_s32(positive, positive, vcmpltq_n_s32(x, 0));
    return vdupq_m_n_s32(result, 0, vcmpeqq_n_s32(x, 0));
}

/* The sums of `count` cells, one to four, whose weights are `depth` apart. */
MG_INLINE int32x4_t mg_lstm_s8_mve_sums(const int8_t *values, const int8_t *weight, int32_t depth,
                                        const int32_t *bias, int32_t count)
{
    const mg_mve_four_filters of = {{weight, weight + ((count > 1) ? depth : 0),
                                     weight + ((count > 2) ? 2 * depth : 0),
                                     weight + ((count > 3) ? 3 * depth : 0)},
                                    values,
                                    depth};
    return vaddq_s32(mg_mve_dot_four(&of), vldrwq_z_s32(bias, vctp32q((uint32_t)count)));
}

/* Stores the arguments of a gate's function in Q3.12, int16 [cells]. */
MG_INLINE void mg_lstm_s8_mve_gate(const mg_lstm_s8_mve_params *p, int32_t gate,
                                   const mg_lstm_s8_weights *w, const int32_t *recurrent_bias,
                                   const int8_t *input, const int8_t *state, int16_t *to)
{
    for (int32_t cell = 0; cell < p->cells; cell += MG_MVE_FILTERS) {
        const int32_t left = p->cells - cell;
        const int32_t count = (left < MG_MVE_FILTERS) ? left : MG_MVE_FILTERS;
        const int32_t at = gate * p->cells + cell;
        const int32x4_t x = mg_lstm_s8_mve_sums(input, &w->input[at * p->features], p->features,
                                                &w->bias[at], count);
        const int32x4_t h = mg_lstm_s8_mve_sums(state, &w->recurrent[at * p->cells], p->cells,
                                                &recurrent_bias[at], count);
        const int32x4_t of_input = mg_mve_saturate_16(
            mg_mve_requantize_n(x, p->input_multiplier[gate], p->input_shift[gate]));
        const int32x4_t of_state =
            mg_mve_requantize_n(h, p->recurrent_multiplier[gate], p->recurrent_shift[gate]);
        vstrhq_p_s32(&to[cell], mg_mve_saturate_16(vaddq_s32(of_input, of_state)),
                     vctp32q((uint32_t)count));
    }
}

/* The cell states of `active` cells after a step. */
MG_INLINE int32x4_t mg_lstm_s8_mve_cell(const mg_lstm_s8_mve_params *p, int32x4_t before,
                                        const int16_t *gates, mve_pred16_t active)
{
    const int16_t *const forget = &gates[MG_LSTM_FORGET * p->cells];
    const int16_t *const cell = &gates[MG_LSTM_CELL * p->cells];
    const int32x4_t keep = mg_mve_logistic_16(vldrhq_z_s32(forget, active));
    const int32x4_t kept = mg_mve_divide(vmulq_s32(keep, before), 15);
    const int32x4_t take = mg_mve_logistic_16(vldrhq_z_s32(gates, active));
    const int32x4_t change = mg_mve_tanh_16(vldrhq_z_s32(cell, active), 3);
    const int32x4_t taken = mg_mve_divide(vmulq_s32(take, change), 15 + p->cell_bits);
    const int32x4_t next = mg_mve_saturate_16(vaddq_s32(kept, taken));

    if (p->cell_clip == 0) {
        return next;
    }
    return vminq_s32(vmaxq_s32(next, vdupq_n_s32(-p->cell_clip)), vdupq_n_s32(p->cell_clip));
}

/* Updates cells and their outputs from the arguments of their gates' functions, [4][cells]. */
MG_INLINE void mg_lstm_s8_mve_update(const mg_lstm_s8_mve_params *p, const int16_t *gates,
                                     int16_t *cell_state, int8_t *output)
{
    for (int32_t cell = 0; cell < p->cells; cell += MG_MVE_FILTERS) {
        const mve_pred16_t active = vctp32q((uint32_t)(p->cells - cell));
        const int32x4_t before = vldrhq_z_s32(&cell_state[cell], active);
        const int32x4_t after = mg_lstm_s8_mve_cell(p, before, &gates[cell], active);
        const int16_t *const last = &gates[MG_LSTM_OUTPUT * p->cells + cell];
        const int32x4_t show = mg_mve_logistic_16(vldrhq_z_s32(last, active));
        const int32x4_t shown = vmulq_s32(show, mg_mve_tanh_16(after, p->cell_bits));
        const int32x4_t hidden = mg_mve_requantize_n(shown, p->hidden_multiplier, p->hidden_shift);

        vstrhq_p_s32(&cell_state[cell], after, active);
        vstrbq_p_s32(&output[cell],
                     mg_mve_offset_and_clamp(hidden, p->hidden_offset, INT8_MIN, INT8_MAX), active);
    }
}

MG_INLINE void mg_lstm_s8_mve_body(const mg_lstm_s8_mve_params *p, const int8_t *input,
                                   int8_t *output_state, int16_t *cell_state,
                                   const int8_t *input_weight, const int8_t *recurrent_weight,
                                   const int32_t *bias, const int32_t *recurrent_bias,
                                   int8_t *output, uint8_t *scratch)
{
    const mg_lstm_s8_weights w = {input_weight, recurrent_weight, bias, NULL, NULL, NULL};
    int16_t *const gates = (int16_t *)(void *)scratch;

    for (int32_t n = 0; n < p->batches; n++) {
        int8_t *const state = &output_state[n * p->cells];
        for (int32_t t = 0; t < p->steps; t++) {
            const int32_t row = (p->time_major != 0) ? t * p->batches + n : n * p->steps + t;
            int8_t *const to = &output[row * p->cells];
            for (int32_t gate = 0; gate < 4; gate++) {
                mg_lstm_s8_mve_gate(p, gate, &w, recurrent_bias, &input[row * p->features], state,
                                    &gates[gate * p->cells]);
            }
            mg_lstm_s8_mve_update(p, gates, &cell_state[n * p->cells], to);
            (void)memcpy(state, to, (size_t)p->cells);
        }
    }
}

#ifdef MG_LSTM_S8_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_lstm_s8_mve,
               (p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                recurrent_bias, output, scratch),
               const mg_lstm_s8_mve_params *p, const int8_t *input, int8_t *output_state,
               int16_t *cell_state, const int8_t *input_weight, const int8_t *recurrent_weight,
               const int32_t *bias, const int32_t *recurrent_bias, int8_t *output, uint8_t *scratch)
#endif

#endif

#endif
