/* SPDX-License-Identifier: Apache-2.0 */
/* A layer factored in features and time (SVDF), int8 with an int16 memory. */
#ifndef MICROGEN_SVDF_S8_H
#define MICROGEN_SVDF_S8_H

#include "microgen/arithmetic/fixed_point_16.h"
#include "microgen/blocks/blocks_s16.h"
#include "microgen/blocks/blocks_s8.h"
#include "microgen/recurrent/svdf.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    MG_SVDF_SIZES
    int32_t input_offset;       /* minus the input's zero point: -127 to 128 */
    int32_t output_offset;      /* the output's zero point: -128 to 127 */
    int32_t feature_multiplier; /* from sums of features to the state; see
                                   microgen/requantization/requantize.h */
    int32_t feature_shift;
    int32_t time_multiplier; /* from sums over time to the output */
    int32_t time_shift;
} mg_svdf_s8_params;

/* Computes the layer, as microgen/recurrent/svdf.h describes it. A sum of features must fit int32,
 * partial sums included. Sums over time are taken modulo 2^32. */
MG_EXTERN void mg_svdf_s8(const mg_svdf_s8_params *p, const int8_t *input, int16_t *state,
                          const int8_t *feature_weight, const int16_t *time_weight,
                          const int32_t *bias, int8_t *output);

/* A filter's sum of features, quantized for its memory. */
MG_INLINE int16_t mg_svdf_s8_latest(const mg_svdf_s8_params *p, int32_t sum)
{
    return (int16_t)mg_saturate_16(mg_requantize(sum, p->feature_multiplier, p->feature_shift));
}

/* sum + the products of two int16 values with two weights, modulo 2^32. */
MG_INLINE uint32_t mg_svdf_s8_times_2(uint32_t sum, uint32_t values, const int16_t *weight)
{
    const uint32_t weights = mg_load_2_s16(weight);
#ifdef __ARM_FEATURE_DSP
    return (uint32_t)mg_smlad(values, weights, (int32_t)sum); /* wraps */
#else
    return sum + (uint32_t)mg_smlabb(values, weights, 0) + (uint32_t)mg_smlatt(values, weights, 0);
#endif
}

/* Drops the oldest values of a memory by moving its first `count` successors one place down, and
 * returns their weighted sum. count is a multiple of 4. */
MG_INLINE uint32_t mg_svdf_s8_moved(int16_t *memory, const int16_t *weight, int32_t count)
{
    uint32_t sum = 0U;

    for (int32_t m = 0; m < count; m += 4) {
        const uint32_t low = mg_load_2_s16(&memory[m + 1]);
        const uint32_t high = mg_load_2_s16(&memory[m + 3]);
        memcpy(&memory[m], &low, sizeof(low));
        memcpy(&memory[m + 2], &high, sizeof(high));
        sum = mg_svdf_s8_times_2(sum, low, &weight[m]);
        sum = mg_svdf_s8_times_2(sum, high, &weight[m + 2]);
    }
    return sum;
}

/* Drops the oldest value of a memory, appends the latest, and returns the weighted sum. */
MG_INLINE uint32_t mg_svdf_s8_remember(const mg_svdf_s8_params *p, int16_t *memory,
                                       const int16_t *weight, int16_t latest, int dsp)
{
    const int32_t last = p->memory - 1;
    const int32_t moved = dsp ? last - last % 4 : 0;
    uint32_t sum = dsp ? mg_svdf_s8_moved(memory, weight, moved) : 0U;

    for (int32_t m = moved; m < last; m++) {
        memory[m] = memory[m + 1];
        sum += (uint32_t)(memory[m] * weight[m]);
    }
    memory[last] = latest;
    return sum + (uint32_t)(latest * weight[last]);
}

/* Stores the quantized sums of features of filter f, or of filters f to f + 3 if there are so many,
 * and returns their number. */
MG_INLINE int32_t mg_svdf_s8_filters(const mg_svdf_s8_params *p, const int8_t *input,
                                     const int8_t *weight, int32_t f, int16_t latest[4], int dsp)
{
    const int32_t n = p->features;
    const int8_t *rows = &weight[f * n];
    mg_sums sums = {0, 0, 0, 0};

    if (f + 4 > p->units * p->rank) {
        latest[0] = mg_svdf_s8_latest(p, mg_dot(0, input, rows, n, p->input_offset));
        return 1;
    }
    sums = mg_dot_4(sums, input, rows, n, n, p->input_offset, dsp);
    latest[0] = mg_svdf_s8_latest(p, sums.a);
    latest[1] = mg_svdf_s8_latest(p, sums.b);
    latest[2] = mg_svdf_s8_latest(p, sums.c);
    latest[3] = mg_svdf_s8_latest(p, sums.d);
    return 4;
}

/* The output of unit u, from its sum over time; the bias is added here. */
MG_INLINE int8_t mg_svdf_s8_stored(const mg_svdf_s8_params *p, const int32_t *bias, int32_t u,
                                   uint32_t sum)
{
    const uint32_t total = sum + (uint32_t)mg_bias(bias, u);
    return mg_offset_and_clamp(mg_requantize((int32_t)total, p->time_multiplier, p->time_shift),
                               p->output_offset, INT8_MIN, INT8_MAX);
}

/* Computes one row of the batch. */
MG_INLINE void mg_svdf_s8_row(const mg_svdf_s8_params *p, const int8_t *input, int16_t *state,
                              const int8_t *feature_weight, const int16_t *time_weight,
                              const int32_t *bias, int8_t *output, int dsp)
{
    int16_t latest[4];
    uint32_t sum = 0U;
    int32_t unit = 0;
    int32_t summed = 0; /* filters of the unit that are already summed */

    for (int32_t f = 0; f < p->units * p->rank;) {
        const int32_t count = mg_svdf_s8_filters(p, input, feature_weight, f, latest, dsp);
        for (int32_t i = 0; i < count; i++) {
            const int32_t place = (f + i) * p->memory;
            sum += mg_svdf_s8_remember(p, &state[place], &time_weight[place], latest[i], dsp);
            summed++;
            if (summed == p->rank) {
                output[unit] = mg_svdf_s8_stored(p, bias, unit, sum);
                sum = 0U;
                summed = 0;
                unit++;
            }
        }
        f += count;
    }
}

/* The body of this kernel and, if `dsp` is 1, of the one for the Arm DSP extension. */
MG_INLINE void mg_svdf_s8_rows(const mg_svdf_s8_params *p, const int8_t *input, int16_t *state,
                               const int8_t *feature_weight, const int16_t *time_weight,
                               const int32_t *bias, int8_t *output, int dsp)
{
    const int32_t remembered = p->units * p->rank * p->memory;

    for (int32_t n = 0; n < p->batches; n++) {
        mg_svdf_s8_row(p, &input[n * p->features], &state[n * remembered], feature_weight,
                       time_weight, bias, &output[n * p->units], dsp);
    }
}

MG_INLINE void mg_svdf_s8_body(const mg_svdf_s8_params *p, const int8_t *input, int16_t *state,
                               const int8_t *feature_weight, const int16_t *time_weight,
                               const int32_t *bias, int8_t *output)
{
    mg_svdf_s8_rows(p, input, state, feature_weight, time_weight, bias, output, 0);
}

typedef mg_svdf_s8_params mg_svdf_s8_dsp_params;

/* Computes the same as mg_svdf_s8 with the same arguments. */
MG_EXTERN void mg_svdf_s8_dsp(const mg_svdf_s8_dsp_params *p, const int8_t *input, int16_t *state,
                              const int8_t *feature_weight, const int16_t *time_weight,
                              const int32_t *bias, int8_t *output);

MG_INLINE void mg_svdf_s8_dsp_body(const mg_svdf_s8_dsp_params *p, const int8_t *input,
                                   int16_t *state, const int8_t *feature_weight,
                                   const int16_t *time_weight, const int32_t *bias, int8_t *output)
{
    mg_svdf_s8_rows(p, input, state, feature_weight, time_weight, bias, output, 1);
}

#ifdef MG_SVDF_S8_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE(mg_svdf_s8, (p, input, state, feature_weight, time_weight, bias, output),
               const mg_svdf_s8_params *p, const int8_t *input, int16_t *state,
               const int8_t *feature_weight, const int16_t *time_weight, const int32_t *bias,
               int8_t *output)
MG_OUT_OF_LINE(mg_svdf_s8_dsp, (p, input, state, feature_weight, time_weight, bias, output),
               const mg_svdf_s8_dsp_params *p, const int8_t *input, int16_t *state,
               const int8_t *feature_weight, const int16_t *time_weight, const int32_t *bias,
               int8_t *output)
#endif

#endif
