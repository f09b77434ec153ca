/* SPDX-License-Identifier: Apache-2.0 */
/* A long short-term memory (LSTM) over sequences, float32, for MVE with floats: the four gates of
 * four cells at a time. */
#ifndef MICROGEN_LSTM_F32_MVE_H
#define MICROGEN_LSTM_F32_MVE_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/blocks/blocks_f32_mve.h"
#include "microgen/recurrent/lstm_f32.h"

typedef mg_lstm_f32_params mg_lstm_f32_mve_params;

/* Computes the same as mg_lstm_f32 with four gates, without peepholes and projection, except that
 * sums begin with the bias, products are fused with additions, and the gates' functions differ by
 * a few units in the last place. Weights are in the order [blocks of four cells][values][gates][4],
 * with weights of 0 for cells that the last block lacks. */
MG_EXTERN void mg_lstm_f32_mve(const mg_lstm_f32_mve_params *p, const float *input,
                               float *output_state, float *cell_state, const float *input_weight,
                               const float *recurrent_weight, const float *bias, float *output);

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)

enum {
    MG_LSTM_F32_GATES = 4
};

/* exp of values that are not positive; those below -86 count as -86. The method, and its
 * coefficients, are those of mg_f32_exp. */
MG_INLINE float32x4_t mg_mve_exp_of_negative_f32(float32x4_t negative)
{
    const float32x4_t shifter = vdupq_n_f32(12582912.0F);
    const float32x4_t least = vdupq_n_f32(-86.0F);
    const float32x4_t x = vpselq_f32(least, negative, vcmpgtq_f32(least, negative));
    const float32x4_t shifted = vfmaq_n_f32(shifter, x, MG_LOG2_E);
    const float32x4_t n = vsubq_f32(shifted, shifter);
    const float32x4_t r = vfmaq_n_f32(vfmaq_n_f32(x, n, -MG_LN2_HIGH), n, -MG_LN2_LOW);
    float32x4_t p = vdupq_n_f32(0.00139408931F);

    p = vfmaq_f32(vdupq_n_f32(0.00833338965F), p, r);
    p = vfmaq_f32(vdupq_n_f32(0.0416663587F), p, r);
    p = vfmaq_f32(vdupq_n_f32(0.166666657F), p, r);
    p = vfmaq_f32(vdupq_n_f32(0.5F), p, r);
    p = vfmaq_f32(vdupq_n_f32(1.0F), p, r);
    p = vfmaq_f32(vdupq_n_f32(1.0F), p, r);
    /* The low bits of `shifted` are the exponent; its others are shifted out. */
    return vreinterpretq_f32_s32(
        vaddq_s32(vreinterpretq_s32_f32(p), vshlq_n_s32(vreinterpretq_s32_f32(shifted), 23)));
}

/* 1 / x for x in [1, 2]: the best polynomial of degree 2, which is off by 1 / 99, and two steps of
 * Newton's method. */
MG_INLINE float32x4_t mg_mve_reciprocal_f32(float32x4_t x)
{
    const float32x4_t one = vdupq_n_f32(1.0F);
    const float32x4_t linear = vfmaq_n_f32(vdupq_n_f32(-1.45454545F), x, 0.323232323F);
    float32x4_t estimate = vfmaq_f32(vdupq_n_f32(2.12121212F), linear, x);

    estimate = vfmaq_f32(estimate, estimate, vfmsq_f32(one, estimate, x));
    return vfmaq_f32(estimate, estimate, vfmsq_f32(one, estimate, x));
}

/* mg_f32_sigmoid of every lane. */
MG_INLINE float32x4_t mg_mve_sigmoid_f32(float32x4_t x)
{
    const float32x4_t e = mg_mve_exp_of_negative_f32(vnegq_f32(vabsq_f32(x)));
    const float32x4_t upper = mg_mve_reciprocal_f32(vaddq_n_f32(e, 1.0F));
    return vmulq_m_f32(upper, upper, e, vcmpltq_n_f32(x, 0.0F));
}

/* mg_f32_tanh of every lane. */
MG_INLINE float32x4_t mg_mve_tanh_f32(float32x4_t x)
{
    const float32x4_t a = vabsq_f32(x);
    const float32x4_t z = vmulq_f32(a, a);
    const float32x4_t e = mg_mve_exp_of_negative_f32(vmulq_n_f32(a, -2.0F));
    const float32x4_t inverse = mg_mve_reciprocal_f32(vaddq_n_f32(e, 1.0F));
    const float32x4_t far = vfmsq_f32(inverse, inverse, e);
    float32x4_t p = vdupq_n_f32(-0.00627355417F);

    p = vfmaq_f32(vdupq_n_f32(0.0210712235F), p, z);
    p = vfmaq_f32(vdupq_n_f32(-0.053852208F), p, z);
    p = vfmaq_f32(vdupq_n_f32(0.133325845F), p, z);
    p = vfmaq_f32(vdupq_n_f32(-0.333333164F), p, z);
    const float32x4_t near = vfmaq_f32(a, vmulq_f32(a, z), p);
    const float32x4_t result = vpselq_f32(far, near, vcmpgeq_n_f32(a, 0.55F));
    return vnegq_m_f32(result, result, vcmpltq_n_f32(x, 0.0F));
}

/* The biases of the gates of `active` cells. */
MG_INLINE mg_mve_sums_f32 mg_lstm_f32_mve_start(const float *bias, int32_t cells,
                                                mve_pred16_t active)
{
    const mg_mve_sums_f32 sums = {vldrwq_z_f32(bias, active), vldrwq_z_f32(&bias[cells], active),
                                  vldrwq_z_f32(&bias[2 * cells], active),
                                  vldrwq_z_f32(&bias[3 * cells], active)};
    return sums;
}

/* Updates four cells, as far as they are active, from the arguments of their gates' functions. */
MG_INLINE void mg_lstm_f32_mve_update(const mg_lstm_f32_mve_params *p, mg_mve_sums_f32 gates,
                                      mve_pred16_t active, float *cell_state, float *output)
{
    const float32x4_t before = vldrwq_z_f32(cell_state, active);
    const float32x4_t taken = vmulq_f32(mg_mve_sigmoid_f32(gates.p), mg_mve_tanh_f32(gates.r));
    const float32x4_t next = vfmaq_f32(taken, mg_mve_sigmoid_f32(gates.q), before);
    const float32x4_t after = mg_mve_clamp_f32(next, -p->cell_clip, p->cell_clip);

    vstrwq_p_f32(cell_state, after, active);
    vstrwq_p_f32(output, vmulq_f32(mg_mve_sigmoid_f32(gates.s), mg_mve_tanh_f32(after)), active);
}

/* Computes one step of one sequence. */
MG_INLINE void mg_lstm_f32_mve_step(const mg_lstm_f32_mve_params *p, const mg_lstm_f32_weights *w,
                                    const float *input, const float *state, float *cell_state,
                                    float *output)
{
    for (int32_t cell = 0; cell < p->cells; cell += MG_MVE_FLOATS) {
        const mve_pred16_t active = vctp32q((uint32_t)(p->cells - cell));
        mg_mve_sums_f32 sums = mg_lstm_f32_mve_start(&w->bias[cell], p->cells, active);
        sums = mg_mve_dot_wide_f32(sums, input, &w->input[MG_LSTM_F32_GATES * cell * p->features],
                                   p->features);
        sums = mg_mve_dot_wide_f32(sums, state, &w->recurrent[MG_LSTM_F32_GATES * cell * p->cells],
                                   p->cells);
        mg_lstm_f32_mve_update(p, sums, active, &cell_state[cell], &output[cell]);
    }
}

MG_INLINE void mg_lstm_f32_mve_body(const mg_lstm_f32_mve_params *p, const float *input,
                                    float *output_state, float *cell_state,
                                    const float *input_weight, const float *recurrent_weight,
                                    const float *bias, float *output)
{
    const mg_lstm_f32_weights w = {input_weight, recurrent_weight, bias, NULL, NULL, NULL};

    MG_LSTM_STEPS(float, mg_lstm_f32_mve_step)
}

#ifdef MG_LSTM_F32_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_lstm_f32_mve,
               (p, input, output_state, cell_state, input_weight, recurrent_weight, bias, output),
               const mg_lstm_f32_mve_params *p, const float *input, float *output_state,
               float *cell_state, const float *input_weight, const float *recurrent_weight,
               const float *bias, float *output)
#endif

#endif

#endif
