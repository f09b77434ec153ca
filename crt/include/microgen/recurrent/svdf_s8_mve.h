/* SPDX-License-Identifier: Apache-2.0 */
/* A layer factored in features and time (SVDF), int8 with an int16 memory, for MVE. */
#ifndef MICROGEN_SVDF_S8_MVE_H
#define MICROGEN_SVDF_S8_MVE_H

#include "microgen/blocks/mve.h"
#include "microgen/recurrent/svdf_s8.h"

typedef mg_svdf_s8_params mg_svdf_s8_mve_params;

/* Computes the same as mg_svdf_s8 with the same arguments. */
MG_EXTERN void mg_svdf_s8_mve(const mg_svdf_s8_mve_params *p, const int8_t *input, int16_t *state,
                              const int8_t *feature_weight, const int16_t *time_weight,
                              const int32_t *bias, int8_t *output);

#ifdef __ARM_FEATURE_MVE

/* The sum of features of one filter: the products of the weights with the inputs, and the input's
 * offset times the sum of the weights. */
MG_INLINE int32_t mg_svdf_s8_features_mve(const mg_svdf_s8_params *p, const int8_t *input,
                                          const int8_t *weight)
{
    const int32_t whole = p->features / MG_MVE_BYTES;
    const int32_t left = p->features % MG_MVE_BYTES;
    int32_t sum = 0;
    int32_t weights = 0;

    for (int32_t i = whole; i > 0; i--) {
        const int8x16_t w = vldrbq_s8(weight);
        sum = vmladavaq_s8(sum, vldrbq_s8(input), w);
        weights = vaddvaq_s8(weights, w);
        input += MG_MVE_BYTES;
        weight += MG_MVE_BYTES;
    }
    if (left > 0) {
        const mve_pred16_t active = vctp8q((uint32_t)left);
        const int8x16_t w = vldrbq_z_s8(weight, active);
        sum = vmladavaq_s8(sum, vldrbq_z_s8(input, active), w);
        weights = vaddvaq_s8(weights, w);
    }
    return sum + p->input_offset * weights;
}

/* mg_svdf_s8_latest of four sums, as int32. */
MG_INLINE int32x4_t mg_svdf_s8_latest_mve(const mg_svdf_s8_params *p, int32x4_t sums)
{
    const int32x4_t scaled = mg_mve_requantize_n(sums, p->feature_multiplier, p->feature_shift);
    return mg_mve_offset_and_clamp(scaled, 0, INT16_MIN, INT16_MAX);
}

/* Drops the oldest value of a memory, appends the latest, and returns the weighted sum. Memories
 * are neighbours, so the vector that a memory ends in also reads the first values of the next one,
 * but neither sums nor stores them. */
MG_INLINE int32_t mg_svdf_s8_remember_mve(const mg_svdf_s8_params *p, int16_t *memory,
                                          const int16_t *weight, int32_t latest)
{
    const int32_t last = p->memory - 1;
    int32_t sum = latest * weight[last];

    for (int32_t m = 0; m < last; m += MG_MVE_BYTES / 2) {
        const mve_pred16_t active = vctp16q((uint32_t)(last - m));
        const int16x8_t values = vldrhq_z_s16(&memory[m + 1], active);
        vstrhq_p_s16(&memory[m], values, active);
        sum = vmladavaq_s16(sum, values, vldrhq_z_s16(&weight[m], active));
    }
    memory[last] = (int16_t)latest;
    return sum;
}

/* Stores the outputs of the last units before `unit`: four, or the rest of a row. */
MG_INLINE void mg_svdf_s8_store_mve(const mg_svdf_s8_params *p, const int32_t *totals, int32_t unit,
                                    int8_t *output)
{
    const int32_t first = (unit - 1) - (unit - 1) % MG_MVE_ROWS;
    const int32x4_t scaled =
        mg_mve_requantize_n(vldrwq_s32(totals), p->time_multiplier, p->time_shift);

    vstrbq_p_s32(&output[first],
                 mg_mve_offset_and_clamp(scaled, p->output_offset, INT8_MIN, INT8_MAX),
                 vctp32q((uint32_t)(unit - first)));
}

/* Computes one row of the batch. */
MG_INLINE void mg_svdf_s8_row_mve(const mg_svdf_s8_params *p, const int8_t *input, int16_t *state,
                                  const int8_t *feature_weight, const int16_t *time_weight,
                                  const int32_t *bias, int8_t *output)
{
    const int32_t filters = p->units * p->rank;
    uint32_t sum = 0U;
    int32_t unit = 0;
    int32_t summed = 0; /* filters of the unit that are already summed */
    int32_t totals[MG_MVE_ROWS] = {0, 0, 0, 0};

    for (int32_t f = 0; f < filters; f += MG_MVE_ROWS) {
        const int32_t count = (filters - f < MG_MVE_ROWS) ? filters - f : MG_MVE_ROWS;
        int32_t latest[MG_MVE_ROWS] = {0, 0, 0, 0};
        for (int32_t i = 0; i < count; i++) {
            latest[i] = mg_svdf_s8_features_mve(p, input, &feature_weight[(f + i) * p->features]);
        }
        vstrwq_s32(latest, mg_svdf_s8_latest_mve(p, vldrwq_s32(latest)));
        for (int32_t i = 0; i < count; i++) {
            const int32_t place = (f + i) * p->memory;
            sum +=
                (uint32_t)mg_svdf_s8_remember_mve(p, &state[place], &time_weight[place], latest[i]);
            summed++;
            if (summed == p->rank) {
                totals[unit % MG_MVE_ROWS] = (int32_t)(sum + (uint32_t)mg_bias(bias, unit));
                sum = 0U;
                summed = 0;
                unit++;
                if ((unit % MG_MVE_ROWS == 0) || (unit == p->units)) {
                    mg_svdf_s8_store_mve(p, totals, unit, output);
                }
            }
        }
    }
}

MG_INLINE void mg_svdf_s8_mve_body(const mg_svdf_s8_mve_params *p, const int8_t *input,
                                   int16_t *state, const int8_t *feature_weight,
                                   const int16_t *time_weight, const int32_t *bias, int8_t *output)
{
    MG_SVDF_ROWS(mg_svdf_s8_row_mve);
}

#ifdef MG_SVDF_S8_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_svdf_s8_mve, (p, input, state, feature_weight, time_weight, bias, output),
               const mg_svdf_s8_mve_params *p, const int8_t *input, int16_t *state,
               const int8_t *feature_weight, const int16_t *time_weight, const int32_t *bias,
               int8_t *output)
#endif

#endif

#endif
