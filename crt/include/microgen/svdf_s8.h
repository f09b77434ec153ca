/* A layer factored in features and time (SVDF), int8 with an int16 memory. */
#ifndef MICROGEN_SVDF_S8_H
#define MICROGEN_SVDF_S8_H

#include <stddef.h>
#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/requantize.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t batches;
    int32_t features;           /* of the input */
    int32_t units;              /* of the output */
    int32_t rank;               /* filters per unit */
    int32_t memory;             /* results that a filter remembers, the latest among them */
    int32_t input_offset;       /* minus the input's zero point: -127 to 128 */
    int32_t output_offset;      /* the output's zero point: -128 to 127 */
    int32_t feature_multiplier; /* from sums of features to the state; microgen/requantize.h */
    int32_t feature_shift;
    int32_t time_multiplier; /* from sums over time to the output */
    int32_t time_shift;
} mg_svdf_s8_params;

/* Computes output [batches][units] from input [batches][features] and what state
 * [batches][units * rank][memory] remembers; moves each memory on by one, oldest first.
 *
 * feature_weight is [units * rank][features], time_weight [units * rank][memory], bias [units] or
 * NULL. A sum of features must stay within int32; sums over time are taken modulo 2^32. No two
 * buffers may overlap. */
void mg_svdf_s8(const mg_svdf_s8_params *p, const int8_t *input, int16_t *state,
                const int8_t *feature_weight, const int16_t *time_weight, const int32_t *bias,
                int8_t *output);

/* A filter's result for the input, as its memory stores it. */
MG_INLINE int16_t mg_svdf_s8_latest(const mg_svdf_s8_params *p, const int8_t *input,
                                    const int8_t *weight)
{
    int32_t sum = 0;

    for (int32_t i = 0; i < p->features; i++) {
        sum += (input[i] + p->input_offset) * weight[i];
    }
    sum = mg_requantize(sum, p->feature_multiplier, p->feature_shift);
    if (sum > INT16_MAX) {
        sum = INT16_MAX;
    }
    return (int16_t)((sum < INT16_MIN) ? INT16_MIN : sum);
}

/* Drops the oldest of a memory, puts the latest at its end, and returns the weighted sum. */
MG_INLINE uint32_t mg_svdf_s8_remember(const mg_svdf_s8_params *p, int16_t *memory,
                                       const int16_t *weight, int16_t latest)
{
    const int32_t last = p->memory - 1;
    uint32_t sum = 0U;

    for (int32_t m = 0; m < last; m++) {
        memory[m] = memory[m + 1];
        sum += (uint32_t)(memory[m] * weight[m]);
    }
    memory[last] = latest;
    return sum + (uint32_t)(latest * weight[last]);
}

MG_INLINE void mg_svdf_s8_body(const mg_svdf_s8_params *p, const int8_t *input, int16_t *state,
                               const int8_t *feature_weight, const int16_t *time_weight,
                               const int32_t *bias, int8_t *output)
{
    int16_t *memory = state;

    for (int32_t n = 0; n < p->batches; n++) {
        const int8_t *feature = feature_weight;
        const int16_t *time = time_weight;
        for (int32_t u = 0; u < p->units; u++) {
            uint32_t sum = (bias != NULL) ? (uint32_t)bias[u] : 0U;
            for (int32_t r = 0; r < p->rank; r++) {
                const int16_t latest = mg_svdf_s8_latest(p, input, feature);
                sum += mg_svdf_s8_remember(p, memory, time, latest);
                feature += p->features;
                time += p->memory;
                memory += p->memory;
            }
            output[n * p->units + u] =
                mg_offset_and_clamp(mg_requantize((int32_t)sum, p->time_multiplier, p->time_shift),
                                    p->output_offset, INT8_MIN, INT8_MAX);
        }
        input += p->features;
    }
}

#ifdef __cplusplus
}
#endif

#endif
