/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution, int16 with int8 weights and the scaling of mg_folded_s16: four
 * channels at a time, by MVE or by the DSP extension. */
#ifndef MICROGEN_DEPTHWISE_FOLDED_S16_H
#define MICROGEN_DEPTHWISE_FOLDED_S16_H

#include "microgen/depthwise/depthwise_conv2d_s16.h"
#include "microgen/out_of_line.h"

#if defined(__ARM_FEATURE_MVE)
#include "microgen/blocks/blocks_s16_mve.h"
#endif
#include "microgen/blocks/blocks_s16.h"
#include "microgen/blocks/dsp.h"
#include "microgen/convolution/conv2d_window.h"
#include "microgen/depthwise/depthwise_conv2d_s16.h"

/* The sums of products of four channels, whose values and weights begin at the window's first. */
MG_INLINE mg_sums_1x4_s16 mg_depthwise_s16_dsp_sums(const mg_window *window, const int16_t *values,
                                                    const int8_t *weights)
{
    mg_sums_1x4_s16 sums = {0, 0, 0, 0};

    for (int32_t row = 0; row < window->rows; row++) {
        const int16_t *value = &values[row * window->next_row];
        const int8_t *tap = &weights[row * window->next_weight_row];
        for (int32_t run = window->runs; run > 0; run--) {
            const uint32_t four = mg_load_4_s8(tap);
            const uint32_t first = mg_sxtb16(four);
            const uint32_t second = mg_sxtb16_odd(four);
            const uint32_t low = mg_load_2_s16(value);
            const uint32_t high = mg_load_2_s16(&value[2]);
            sums.a = mg_smlabb(low, first, sums.a);
            sums.b = mg_smlatt(low, first, sums.b);
            sums.c = mg_smlabb(high, second, sums.c);
            sums.d = mg_smlatt(high, second, sums.d);
            value += window->next_run;
            tap += window->next_weight_run;
        }
    }
    return sums;
}

MG_INLINE void mg_depthwise_s16_dsp_pixel(const mg_conv2d_shape *s, const mg_window *window,
                                          const int16_t *input, const int8_t *weight,
                                          const mg_folded_s16 *folded, int16_t *pixel)
{
    for (int32_t c = 0; c < s->output_channels; c += 4) {
        const mg_sums_1x4_s16 sums = mg_depthwise_s16_dsp_sums(window, &input[window->value + c],
                                                               &weight[window->weight + c]);
        pixel[c] = mg_folded_output_s16(folded, c, sums.a);
        pixel[c + 1] = mg_folded_output_s16(folded, c + 1, sums.b);
        pixel[c + 2] = mg_folded_output_s16(folded, c + 2, sums.c);
        pixel[c + 3] = mg_folded_output_s16(folded, c + 3, sums.d);
    }
}

#if defined(__ARM_FEATURE_MVE)
/* The sums of products of four channels, whose values and weights begin at the window's first. */
MG_INLINE int32x4_t mg_depthwise_s16_mve_sums(const mg_window *window, const int16_t *values,
                                              const int8_t *weights)
{
    int32x4_t sums = vdupq_n_s32(0);

    for (int32_t row = 0; row < window->rows; row++) {
        const int16_t *value = &values[row * window->next_row];
        const int8_t *tap = &weights[row * window->next_weight_row];
        for (int32_t run = window->runs; run > 0; run--) {
            sums = vaddq_s32(sums, vmulq_s32(vldrhq_s32(value), vldrbq_s32(tap)));
            value += window->next_run;
            tap += window->next_weight_run;
        }
    }
    return sums;
}

/* The sums of eight channels: of the first, the third and so on, and of the others. */
typedef struct {
    int32x4_t even;
    int32x4_t odd;
} mg_sums_8_s16;

/* Adds the products of a row of a window. */
MG_INLINE mg_sums_8_s16 mg_depthwise_s16_mve_taps(mg_sums_8_s16 sums, const mg_window *window,
                                                  const int16_t *value, const int8_t *tap)
{
#if defined(__OPTIMIZE__)
    /* In assembly, because GCC 12 counts and compares in three instructions. */
    __asm__("wls lr, %[runs], 2f\n"
            "1:\n\t"
            "vldrh.u16 q0, [%[value]]\n\t"
            "add %[value], %[value], %[next_value]\n\t"
            "vldrb.s16 q1, [%[tap]]\n\t"
            "add %[tap], %[tap], %[next_tap]\n\t"
            "vmullb.s16 q2, q0, q1\n\t"
            "vmullt.s16 q3, q0, q1\n\t"
            "vadd.i32 %q[even], %q[even], q2\n\t"
            "vadd.i32 %q[odd], %q[odd], q3\n\t"
            "le lr, 1b\n"
            "2:"
            : [value] "+r"(value), [tap] "+l"(tap), [even] "+w"(sums.even), [odd] "+w"(sums.odd)
            : [runs] "r"(window->runs), [next_tap] "r"(window->next_weight_run),
              [next_value] "r"(window->next_run * (int32_t)sizeof(int16_t))
            : "lr", "q0", "q1", "q2", "q3", "memory");
#else
    for (int32_t run = window->runs; run > 0; run--) {
        const int16x8_t values = vldrhq_s16(value);
        const int16x8_t weights = vldrbq_s16(tap);
        sums.even = vaddq_s32(sums.even, vmullbq_int_s16(values, weights));
        sums.odd = vaddq_s32(sums.odd, vmulltq_int_s16(values, weights));
        value += window->next_run;
        tap += window->next_weight_run;
    }
#endif
    return sums;
}

/* Computes eight channels of a pixel. */
MG_INLINE void mg_depthwise_s16_mve_eight(const mg_window *window, const int16_t *values,
                                          const int8_t *weights, const int32_t *bias,
                                          const int32_t *factor, int16x8_t least, int16x8_t most,
                                          int16_t *output)
{
    const int32x4x2_t biases = vld2q_s32(bias);
    const int32x4x2_t factors = vld2q_s32(factor);
    mg_sums_8_s16 sums = {biases.val[0], biases.val[1]};

    for (int32_t row = window->rows; row > 0; row--) {
        sums = mg_depthwise_s16_mve_taps(sums, window, values, weights);
        values += window->next_row;
        weights += window->next_weight_row;
    }
    const int16x8_t even = vqmovnbq_s32(vdupq_n_s16(0), vrmulhq_s32(sums.even, factors.val[0]));
    const int16x8_t both = vqmovntq_s32(even, vrmulhq_s32(sums.odd, factors.val[1]));
    vstrhq_s16(output, vminq_s16(vmaxq_s16(both, least), most));
}

/* Computes all channels of a pixel, eight or more. The last eight may be computed together with
 * some that are already known. */
MG_INLINE void mg_depthwise_s16_mve_eights(const mg_conv2d_shape *s, const mg_window *window,
                                           const int16_t *input, const int8_t *weight,
                                           const mg_folded_s16 *folded, int16_t *pixel)
{
    const int16x8_t least = vdupq_n_s16((int16_t)folded->activation_min);
    const int16x8_t most = vdupq_n_s16((int16_t)folded->activation_max);
    const int32_t last = s->output_channels - 8;

    for (int32_t c = 0; c < s->output_channels; c += 8) {
        const int32_t from = (c < last) ? c : last;
        mg_depthwise_s16_mve_eight(window, &input[window->value + from],
                                   &weight[window->weight + from], &folded->bias[from],
                                   &folded->factor[from], least, most, &pixel[from]);
    }
}

/* The same for any channels from four on, four at a time. */
MG_INLINE void mg_depthwise_s16_mve_pixel(const mg_conv2d_shape *s, const mg_window *window,
                                          const int16_t *input, const int8_t *weight,
                                          const mg_folded_s16 *folded, int16_t *pixel)
{
    const int32_t last = s->output_channels - MG_MVE_ROWS;

    if (last >= MG_MVE_ROWS) {
        mg_depthwise_s16_mve_eights(s, window, input, weight, folded, pixel);
        return;
    }
    for (int32_t c = 0; c < s->output_channels; c += MG_MVE_ROWS) {
        const int32_t from = (c < last) ? c : last;
        const int32x4_t sums = mg_depthwise_s16_mve_sums(window, &input[window->value + from],
                                                         &weight[window->weight + from]);
        const int32x4_t scaled = vrmulhq_s32(vaddq_s32(sums, vldrwq_s32(&folded->bias[from])),
                                             vldrwq_s32(&folded->factor[from]));
        vstrhq_s32(&pixel[from],
                   mg_mve_clamp_s16(scaled, folded->activation_min, folded->activation_max));
    }
}

#endif

/* Computes all channels of a pixel. */
MG_INLINE void mg_depthwise_s16_pixel(const mg_conv2d_shape *s, const mg_window *window,
                                      const int16_t *input, const int8_t *weight,
                                      const mg_folded_s16 *folded, int by_vectors, int16_t *pixel)
{
#if defined(__ARM_FEATURE_MVE)
    if (by_vectors) {
        mg_depthwise_s16_mve_pixel(s, window, input, weight, folded, pixel);
        return;
    }
#endif
    (void)by_vectors;
    mg_depthwise_s16_dsp_pixel(s, window, input, weight, folded, pixel);
}

/* Computes the layer. `by_vectors`, a constant, says whether by MVE, with weights in their own
 * order and any number of channels from four on. Otherwise each four weights are in the order 0, 2,
 * 1, 3, and there is a multiple of four channels. */
MG_INLINE void mg_depthwise_folded_s16(const mg_depthwise_conv2d_s16_params *p,
                                       const int16_t *input, const int8_t *weight,
                                       const int32_t *bias, const int32_t *factor, int by_vectors,
                                       int16_t *output)
{
    const mg_folded_s16 folded = {bias, factor, p->activation_min, p->activation_max};
    const mg_conv2d_shape *s = &p->shape;

    MG_EACH_WINDOW(s, mg_depthwise_window_at, int16_t, output,
                   mg_depthwise_s16_pixel(s, &window, input, weight, &folded, by_vectors, pixel));
}

/* 2-D depthwise convolution, int16 with int8 weights, for the DSP extension: four channels at a
 * time. */
typedef mg_depthwise_conv2d_s16_params mg_depthwise_conv2d_s16_dsp_params;

/* Computes the same as mg_depthwise_conv2d_s16 with as many inputs as outputs, rounded by
 * MG_ROUND_REDUCED. There must be a multiple of four channels. weight has [taps][channels] with
 * each four channels in the order 0, 2, 1, 3; bias and factor are those of mg_folded_s16. No sum of
 * products and bias may exceed int32. */
MG_EXTERN void mg_depthwise_conv2d_s16_dsp(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_dsp,
                                                                 int8_t));

MG_INLINE void mg_depthwise_conv2d_s16_dsp_body(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_dsp,
                                                                      int8_t))
{
    mg_depthwise_folded_s16(p, input, weight, bias, factor, 0, output);
}

/* 2-D depthwise convolution, int16 with int8 weights, for MVE: four channels at a time. */
typedef mg_depthwise_conv2d_s16_params mg_depthwise_conv2d_s16_mve_params;

/* Computes the same as mg_depthwise_conv2d_s16 with as many inputs as outputs, four or more,
 * rounded by MG_ROUND_REDUCED. bias and factor are those of mg_folded_s16. No sum of products and
 * bias may exceed int32. */
MG_EXTERN void mg_depthwise_conv2d_s16_mve(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_mve,
                                                                 int8_t));

#if defined(__ARM_FEATURE_MVE)

MG_INLINE void mg_depthwise_conv2d_s16_mve_body(MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_mve,
                                                                      int8_t))
{
    mg_depthwise_folded_s16(p, input, weight, bias, factor, 1, output);
}

#ifdef MG_DEPTHWISE_FOLDED_S16_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_depthwise_conv2d_s16_mve, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_mve, int8_t))
#endif

#endif

#ifdef MG_DEPTHWISE_FOLDED_S16_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_depthwise_conv2d_s16_dsp, (p, input, weight, bias, factor, output),
               MG_ARGUMENTS_FACTORED(mg_depthwise_conv2d_s16_dsp, int8_t))
#endif

#endif
