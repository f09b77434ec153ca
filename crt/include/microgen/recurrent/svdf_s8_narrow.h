/* SPDX-License-Identifier: Apache-2.0 */
/* A layer factored in features and time (SVDF), int8 with an int8 memory. */
#ifndef MICROGEN_SVDF_S8_NARROW_H
#define MICROGEN_SVDF_S8_NARROW_H

#include "microgen/blocks/blocks_s8.h"
#include "microgen/recurrent/svdf.h"
#include "microgen/requantization/requantize.h"

typedef struct {
    MG_SVDF_SIZES
    int32_t input_offset;       /* minus the input's zero point: -127 to 128 */
    int32_t output_offset;      /* the output's zero point: -128 to 127 */
    int32_t state_offset;       /* the state's zero point: -128 to 127 */
    int32_t feature_multiplier; /* from sums of features to the state; see
                                   microgen/requantization/requantize.h */
    int32_t feature_shift;
    int32_t time_multiplier; /* from sums over time to the output */
    int32_t time_shift;
} mg_svdf_s8_narrow_params;

/* Computes the layer, as microgen/recurrent/svdf.h describes it. A sum of features must fit int32,
 * partial sums included. Sums over time are taken modulo 2^32. */
MG_EXTERN void mg_svdf_s8_narrow(const mg_svdf_s8_narrow_params *p, const int8_t *input,
                                 int8_t *state, const int8_t *feature_weight,
                                 const int8_t *time_weight, const int32_t *bias, int8_t *output);

/* A filter's sum of features, quantized for its memory. The zero point is added after saturation,
 * modulo 2^8, as TensorFlow Lite Micro does. */
MG_INLINE int8_t mg_svdf_s8_narrow_latest(const mg_svdf_s8_narrow_params *p, int32_t sum)
{
    const int32_t scaled = mg_requantize(sum, p->feature_multiplier, p->feature_shift);
    const int32_t kept =
        mg_offset_and_clamp(scaled, 0, INT8_MIN, INT8_MAX) + p->state_offset; /* -256 to 254 */

    return (int8_t)(((kept - INT8_MIN) & (int32_t)UINT8_MAX) + INT8_MIN);
}

/* Drops the oldest value of a memory, appends the latest, and returns the weighted sum. */
MG_INLINE uint32_t mg_svdf_s8_narrow_remember(const mg_svdf_s8_narrow_params *p, int8_t *memory,
                                              const int8_t *weight, int8_t latest)
{
    uint32_t sum = 0U;

    for (int32_t m = 0; m < p->memory; m++) {
        memory[m] = (m + 1 < p->memory) ? memory[m + 1] : latest;
        sum += (uint32_t)((memory[m] - p->state_offset) * weight[m]);
    }
    return sum;
}

/* Computes one row of the batch. */
MG_INLINE void mg_svdf_s8_narrow_row(const mg_svdf_s8_narrow_params *p, const int8_t *input,
                                     int8_t *state, const int8_t *feature_weight,
                                     const int8_t *time_weight, const int32_t *bias, int8_t *output)
{
    for (int32_t u = 0; u < p->units; u++) {
        uint32_t sum = (uint32_t)mg_bias(bias, u);
        for (int32_t f = u * p->rank; f < (u + 1) * p->rank; f++) {
            const int32_t features =
                mg_dot(0, input, &feature_weight[f * p->features], p->features, p->input_offset);
            const int8_t latest = mg_svdf_s8_narrow_latest(p, features);
            sum += mg_svdf_s8_narrow_remember(p, &state[f * p->memory], &time_weight[f * p->memory],
                                              latest);
        }
        output[u] =
            mg_offset_and_clamp(mg_requantize((int32_t)sum, p->time_multiplier, p->time_shift),
                                p->output_offset, INT8_MIN, INT8_MAX);
    }
}

MG_INLINE void mg_svdf_s8_narrow_body(const mg_svdf_s8_narrow_params *p, const int8_t *input,
                                      int8_t *state, const int8_t *feature_weight,
                                      const int8_t *time_weight, const int32_t *bias,
                                      int8_t *output)
{
    MG_SVDF_ROWS(mg_svdf_s8_narrow_row);
}

#ifdef MG_SVDF_S8_NARROW_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_svdf_s8_narrow, (p, input, state, feature_weight, time_weight, bias, output),
               const mg_svdf_s8_narrow_params *p, const int8_t *input, int8_t *state,
               const int8_t *feature_weight, const int8_t *time_weight, const int32_t *bias,
               int8_t *output)
#endif

#endif
