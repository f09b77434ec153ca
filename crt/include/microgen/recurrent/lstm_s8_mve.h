/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, int8 with an int16 cell state, for MVE: the gates
 * of eight cells at a time. Their functions are those of fixed_point_16.h in lanes of 16 bits, in
 * which mg_multiply_high_16 is one instruction. */
#ifndef MICROGEN_LSTM_S8_MVE_H
#define MICROGEN_LSTM_S8_MVE_H

#include "microgen/blocks/mve_rows.h"
#include "microgen/recurrent/lstm_s8.h"

typedef mg_lstm_s8_params mg_lstm_s8_mve_params;

/* Computes the same as mg_lstm_s8 with four gates, without peepholes and projection. Sums contain
 * no zero points; the biases [cells][4] of sums over the input and over the output state do. */
MG_EXTERN void mg_lstm_s8_mve(const mg_lstm_s8_mve_params *p, const int8_t *input,
                              int8_t *output_state, int16_t *cell_state, const int8_t *input_weight,
                              const int8_t *recurrent_weight, const int32_t *bias,
                              const int32_t *recurrent_bias, int8_t *output);

#if defined(__ARM_FEATURE_MVE)

enum {
    MG_LSTM_MVE_CELLS = 8 /* whose gates' functions are computed at a time */
};

/* mg_saturate_16 of every lane. */
MG_INLINE int32x4_t mg_mve_saturate_16(int32x4_t x)
{
    return vminq_s32(vmaxq_s32(x, vdupq_n_s32(INT16_MIN)), vdupq_n_s32(INT16_MAX));
}

/* mg_divide_by_power_of_two of every lane. */
MG_INLINE int32x4_t mg_mve_divide(int32x4_t x, int32_t exponent)
{
    return vrshlq_n_s32(mg_mve_ties_down(x), -exponent);
}

/* mg_exp_of_quarter_16 of every lane. */
MG_INLINE int16x8_t mg_mve_exp_of_quarter_16(int16x8_t x)
{
    const int16_t exp_minus_eighth = 28918;
    const int16x8_t d = vaddq_n_s16(x, (int16_t)1 << 12);
    const int16x8_t d2 = vqrdmulhq_s16(d, d);
    const int16x8_t d3 = vqrdmulhq_s16(d2, d);
    const int16x8_t d4_over_4 = vrshrq_n_s16(vqrdmulhq_s16(d2, d2), 2);
    const int16x8_t thirds = vqrdmulhq_n_s16(vaddq_s16(d4_over_4, d3), 10923);
    const int16x8_t tail = vrshrq_n_s16(vaddq_s16(thirds, d2), 1);
    return vqaddq_n_s16(vqrdmulhq_n_s16(vaddq_s16(d, tail), exp_minus_eighth), exp_minus_eighth);
}

/* mg_exp_of_negative_16 of every lane, except for 0. A product with a factor is the difference to
 * one with the factor less 1, which a mask leaves out. */
MG_INLINE int16x8_t mg_mve_exp_of_negative_16(int16x8_t x, int32_t integer_bits)
{
    static const int16_t factor[7] = {25520, 19875, 12055, 4435, 600, 11, 0};
    const int32_t factors = (integer_bits > 5) ? 7 : integer_bits + 2;
    /* Bits of a rest, before those of the multiple. By shifts, because GCC 12 fails to compile a
     * conjunction with a constant. */
    const int32_t bits = 13 - integer_bits;
    const uint16x8_t left = vshlq_r_u16(vreinterpretq_u16_s16(x), 16 - bits);
    const int16x8_t low = vreinterpretq_s16_u16(vshlq_r_u16(left, bits - 16));
    const int16x8_t rest = vsubq_n_s16(low, (int16_t)mg_shift_left(1, bits));
    const int16x8_t multiple = vsubq_s16(rest, x);
    int16x8_t result = mg_mve_exp_of_quarter_16(vshlq_r_s16(rest, integer_bits));

    for (int32_t k = 0; k < factors; k++) {
        const int16x8_t mask = vshrq_n_s16(vshlq_r_s16(multiple, 15 - bits - k), 15);
        const int16x8_t less = vqrdmulhq_n_s16(result, (int16_t)(factor[k] + INT16_MIN));
        result = vaddq_s16(result, vandq_s16(less, mask));
    }
    if (integer_bits > 5) {
        const int16_t least = (int16_t)(-mg_shift_left(32, 15 - integer_bits));
        result = vdupq_m_n_s16(result, 0, vcmpltq_n_s16(x, least));
    }
    return result;
}

/* A step of Newton's method for 1 / half. */
MG_INLINE int16x8_t mg_mve_newton_16(int16x8_t half, int16x8_t estimate)
{
    const int16x8_t product = vqrdmulhq_s16(half, estimate);
    const int16x8_t error = vsubq_s16(vdupq_n_s16((int16_t)1 << 13), product);
    return vaddq_s16(estimate, vshlq_n_s16(vqrdmulhq_s16(estimate, error), 2));
}

/* mg_twice_the_inverse_16 of every lane. */
MG_INLINE int16x8_t mg_mve_twice_the_inverse_16(int16x8_t x)
{
    const int16x8_t half = vrhaddq_s16(x, vdupq_n_s16(INT16_MAX));
    const int16x8_t estimate = vaddq_n_s16(vqrdmulhq_n_s16(half, -15420), 23130);
    return mg_mve_newton_16(half, mg_mve_newton_16(half, mg_mve_newton_16(half, estimate)));
}

/* mg_logistic_16 of every lane. */
MG_INLINE int16x8_t mg_mve_logistic_16(int16x8_t x)
{
    const int16x8_t sign = vshrq_n_s16(x, 15);
    const int16x8_t exponential = mg_mve_exp_of_negative_16(vnegq_s16(vabsq_s16(x)), 3);
    const int16x8_t twice = mg_mve_twice_the_inverse_16(exponential);
    const int16x8_t positive = vqaddq_s16(twice, twice);
    /* INT16_MAX less `positive`, for a negative argument. */
    const int16x8_t largest = vreinterpretq_s16_u16(vshrq_n_u16(vreinterpretq_u16_s16(sign), 1));
    return vdupq_m_n_s16(veorq_s16(positive, largest), (int16_t)1 << 14, vcmpeqq_n_s16(x, 0));
}

/* mg_tanh_16 of every lane. */
MG_INLINE int16x8_t mg_mve_tanh_16(int16x8_t x, int32_t integer_bits)
{
    const int16x8_t sign = vshrq_n_s16(x, 15);
    const int16x8_t exponential =
        mg_mve_exp_of_negative_16(vnegq_s16(vabsq_s16(x)), integer_bits + 1);
    const int16x8_t rest = vsubq_n_s16(mg_mve_twice_the_inverse_16(exponential), (int16_t)1 << 13);
    const int16x8_t positive = vqshlq_n_s16(rest, 2);
    const int16x8_t result = vsubq_s16(veorq_s16(positive, sign), sign);
    return vdupq_m_n_s16(result, 0, vcmpeqq_n_s16(x, 0));
}

/* The sums of the four gates of one cell, whose weights are `step` apart. */
MG_INLINE int32x4_t mg_lstm_s8_mve_sums(const int8_t *values, const int8_t *weight, int32_t step,
                                        int32_t depth)
{
#if defined(__OPTIMIZE__)
    const int8_t *b;
    const int8_t *c;
    const int8_t *d;
    int32x4_t lanes;
    __asm__ volatile("add %[b], %[a], %[step]\n\t"
                     "add %[c], %[b], %[step]\n\t"
                     "add %[d], %[c], %[step]\n\t"
                     "movs r0, #0\n\tmovs r2, #0\n\tmovs r4, #0\n\tmovs r6, #0\n\t"
                     "dlstp.8 lr, %[depth]\n"
                     "1:\n\t"
                     "vldrb.8 q0, [%[values]], #16\n\t"
                     "vldrb.8 q1, [%[a]], #16\n\t"
                     "vldrb.8 q2, [%[b]], #16\n\t"
                     "vmladava.s8 r0, q0, q1\n\t"
                     "vldrb.8 q1, [%[c]], #16\n\t"
                     "vmladava.s8 r2, q0, q2\n\t"
                     "vldrb.8 q2, [%[d]], #16\n\t"
                     "vmladava.s8 r4, q0, q1\n\t"
                     "vmladava.s8 r6, q0, q2\n\t"
                     "letp lr, 1b\n\t"
                     "vmov %q[lanes][2], %q[lanes][0], r0, r4\n\t"
                     "vmov %q[lanes][3], %q[lanes][1], r2, r6"
                     : [lanes] "=&w"(lanes), [a] "+r"(weight), [b] "=&r"(b), [c] "=&r"(c),
                       [d] "=&r"(d), [values] "+r"(values)
                     : [step] "r"(step), [depth] "r"(depth)
                     : "r0", "r2", "r4", "r6", "lr", "q0", "q1", "q2", "cc", "memory");
    return lanes;
#else
    int32_t sum[4] = {0, 0, 0, 0};
    for (int32_t k = 0; k < depth; k++) {
        for (int32_t gate = 0; gate < 4; gate++) {
            sum[gate] += weight[gate * step + k] * values[k];
        }
    }
    return vldrwq_s32(sum);
#endif
}

/* The layer's constants: of sums over the input, and over the state. The biases are [cells][4]. */
typedef struct {
    const int8_t *weight[2];
    const int32_t *bias[2];
} mg_lstm_s8_mve_weights;

/* Stores the arguments of the functions of the gates of `cells` cells from the first one on, in
 * Q3.12. */
MG_INLINE void mg_lstm_s8_mve_arguments(const mg_lstm_s8_mve_params *p,
                                        const mg_lstm_s8_mve_weights *w, const int8_t *input,
                                        const int8_t *state, int32_t first, int32_t cells,
                                        int16_t *gates)
{
    const int32x4_t input_multiplier = vldrwq_s32(p->input_multiplier);
    const int32x4_t input_shift = vldrwq_s32(p->input_shift);
    const int32x4_t recurrent_multiplier = vldrwq_s32(p->recurrent_multiplier);
    const int32x4_t recurrent_shift = vldrwq_s32(p->recurrent_shift);
    const uint32x4_t places = vmulq_n_u32(vidupq_n_u32(0, 1), MG_LSTM_MVE_CELLS);

    for (int32_t cell = first; cell < first + cells; cell++) {
        const int32x4_t x = mg_lstm_s8_mve_sums(input, &w->weight[0][cell * p->features],
                                                p->cells * p->features, p->features);
        const int32x4_t h = mg_lstm_s8_mve_sums(state, &w->weight[1][cell * p->cells],
                                                p->cells * p->cells, p->cells);
        const int32x4_t a = mg_mve_requantize(vaddq_s32(x, vldrwq_s32(&w->bias[0][4 * cell])),
                                              input_multiplier, input_shift);
        const int32x4_t b = mg_mve_requantize(vaddq_s32(h, vldrwq_s32(&w->bias[1][4 * cell])),
                                              recurrent_multiplier, recurrent_shift);
        const int32x4_t sum = vaddq_s32(mg_mve_saturate_16(a), b);
        vstrhq_scatter_shifted_offset_s32(&gates[cell - first], places, mg_mve_saturate_16(sum));
    }
}

/* The functions of the gates of a block of cells, in place of their arguments. */
MG_INLINE void mg_lstm_s8_mve_functions(int16_t *gates)
{
    for (int32_t gate = 0; gate < 4; gate++) {
        int16_t *const at = &gates[gate * MG_LSTM_MVE_CELLS];
        if (gate != MG_LSTM_CELL) {
            vstrhq_s16(at, mg_mve_logistic_16(vldrhq_s16(at)));
        }
    }
    int16_t *const cell = &gates[MG_LSTM_CELL * MG_LSTM_MVE_CELLS];
    vstrhq_s16(cell, mg_mve_tanh_16(vldrhq_s16(cell), 3));
}

/* The states of four cells after a step. */
MG_INLINE int32x4_t mg_lstm_s8_mve_cell(const mg_lstm_s8_mve_params *p, int32x4_t before,
                                        const int16_t *gates)
{
    const int32x4_t keep = vldrhq_s32(&gates[MG_LSTM_FORGET * MG_LSTM_MVE_CELLS]);
    const int32x4_t change = vldrhq_s32(&gates[MG_LSTM_CELL * MG_LSTM_MVE_CELLS]);
    const int32x4_t kept = mg_mve_divide(vmulq_s32(keep, before), 15);
    const int32x4_t taken = mg_mve_divide(vmulq_s32(vldrhq_s32(gates), change), 15 + p->cell_bits);
    const int32x4_t next = mg_mve_saturate_16(vaddq_s32(kept, taken));

    if (p->cell_clip == 0) {
        return next;
    }
    return vminq_s32(vmaxq_s32(next, vdupq_n_s32(-p->cell_clip)), vdupq_n_s32(p->cell_clip));
}

/* Updates `cells` cells of a block, and their outputs, from the values of their gates. */
MG_INLINE void mg_lstm_s8_mve_update(const mg_lstm_s8_mve_params *p, int16_t *gates,
                                     int16_t *cell_state, int8_t *output, int32_t cells)
{
    for (int32_t cell = 0; cell < cells; cell += MG_MVE_FILTERS) {
        const mve_pred16_t active = vctp32q((uint32_t)(cells - cell));
        const int32x4_t before = vldrhq_z_s32(&cell_state[cell], active);
        const int32x4_t after = mg_lstm_s8_mve_cell(p, before, &gates[cell]);

        vstrhq_p_s32(&cell_state[cell], after, active);
        vstrhq_s32(&gates[cell], after);
    }
    vstrhq_s16(gates, mg_mve_tanh_16(vldrhq_s16(gates), p->cell_bits));
    for (int32_t cell = 0; cell < cells; cell += MG_MVE_FILTERS) {
        const mve_pred16_t active = vctp32q((uint32_t)(cells - cell));
        const int32x4_t show = vldrhq_s32(&gates[MG_LSTM_OUTPUT * MG_LSTM_MVE_CELLS + cell]);
        const int32x4_t shown = vmulq_s32(show, vldrhq_s32(&gates[cell]));
        const int32x4_t hidden = mg_mve_requantize_n(shown, p->hidden_multiplier, p->hidden_shift);

        vstrbq_p_s32(&output[cell],
                     mg_mve_offset_and_clamp(hidden, p->hidden_offset, INT8_MIN, INT8_MAX), active);
    }
}

/* Computes one step of one sequence. */
MG_INLINE void mg_lstm_s8_mve_step(const mg_lstm_s8_mve_params *p, const mg_lstm_s8_mve_weights *w,
                                   const int8_t *input, const int8_t *state, int16_t *cell_state,
                                   int8_t *output)
{
    int16_t gates[4 * MG_LSTM_MVE_CELLS] = {0};

    for (int32_t cell = 0; cell < p->cells; cell += MG_LSTM_MVE_CELLS) {
        const int32_t left = p->cells - cell;
        const int32_t count = (left < MG_LSTM_MVE_CELLS) ? left : MG_LSTM_MVE_CELLS;
        mg_lstm_s8_mve_arguments(p, w, input, state, cell, count, gates);
        mg_lstm_s8_mve_functions(gates);
        mg_lstm_s8_mve_update(p, gates, &cell_state[cell], &output[cell], count);
    }
}

MG_INLINE void mg_lstm_s8_mve_body(const mg_lstm_s8_mve_params *p, const int8_t *input,
                                   int8_t *output_state, int16_t *cell_state,
                                   const int8_t *input_weight, const int8_t *recurrent_weight,
                                   const int32_t *bias, const int32_t *recurrent_bias,
                                   int8_t *output)
{
    const mg_lstm_s8_mve_weights w = {{input_weight, recurrent_weight}, {bias, recurrent_bias}};

    MG_LSTM_STEPS(int8_t, mg_lstm_s8_mve_step)
}

#ifdef MG_LSTM_S8_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_lstm_s8_mve,
               (p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                recurrent_bias, output),
               const mg_lstm_s8_mve_params *p, const int8_t *input, int8_t *output_state,
               int16_t *cell_state, const int8_t *input_weight, const int8_t *recurrent_weight,
               const int32_t *bias, const int32_t *recurrent_bias, int8_t *output)
#endif

#endif

#endif
