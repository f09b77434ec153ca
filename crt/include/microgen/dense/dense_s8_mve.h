/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8 with int32 accumulators, for MVE: four output features at a time. */
#ifndef MICROGEN_DENSE_S8_MVE_H
#define MICROGEN_DENSE_S8_MVE_H

#include <stddef.h>

#include "microgen/blocks/mve_rows.h"
#include "microgen/dense/dense_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_dense_s8_params mg_dense_s8_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* The sums of products of four output features for one input row, including input_offset. */
MG_INLINE int32x4_t mg_dense_s8_mve_dot(const mg_dense_s8_mve_params *p, const int8_t *input,
                                        const int8_t *const row[MG_MVE_ROWS])
{
    const int8_t *x = input;
    const int8_t *a = row[0];
    const int8_t *b = row[1];
    const int8_t *d = row[2];
    const int8_t *e = row[3];
    int32_t sum_a = 0;
    int32_t sum_b = 0;
    int32_t sum_d = 0;
    int32_t sum_e = 0;
    int32_t weights_a = 0;
    int32_t weights_b = 0;
    int32_t weights_d = 0;
    int32_t weights_e = 0;

    for (int32_t i = p->input_features / MG_MVE_BYTES; i > 0; i--) {
        const int8x16_t v = vldrbq_s8(x);
        const int8x16_t w_a = vldrbq_s8(a);
        sum_a = vmladavaq_s8(sum_a, v, w_a);
        weights_a = vaddvaq_s8(weights_a, w_a);
        const int8x16_t w_b = vldrbq_s8(b);
        sum_b = vmladavaq_s8(sum_b, v, w_b);
        weights_b = vaddvaq_s8(weights_b, w_b);
        const int8x16_t w_d = vldrbq_s8(d);
        sum_d = vmladavaq_s8(sum_d, v, w_d);
        weights_d = vaddvaq_s8(weights_d, w_d);
        const int8x16_t w_e = vldrbq_s8(e);
        sum_e = vmladavaq_s8(sum_e, v, w_e);
        weights_e = vaddvaq_s8(weights_e, w_e);
        x += MG_MVE_BYTES;
        a += MG_MVE_BYTES;
        b += MG_MVE_BYTES;
        d += MG_MVE_BYTES;
        e += MG_MVE_BYTES;
    }
    if (p->input_features % MG_MVE_BYTES != 0) {
        const mve_pred16_t tail = vctp8q((uint32_t)(p->input_features % MG_MVE_BYTES));
        const int8x16_t v = vldrbq_z_s8(x, tail);
        const int8x16_t w_a = vldrbq_z_s8(a, tail);
        sum_a = vmladavaq_s8(sum_a, v, w_a);
        weights_a = vaddvaq_s8(weights_a, w_a);
        const int8x16_t w_b = vldrbq_z_s8(b, tail);
        sum_b = vmladavaq_s8(sum_b, v, w_b);
        weights_b = vaddvaq_s8(weights_b, w_b);
        const int8x16_t w_d = vldrbq_z_s8(d, tail);
        sum_d = vmladavaq_s8(sum_d, v, w_d);
        weights_d = vaddvaq_s8(weights_d, w_d);
        const int8x16_t w_e = vldrbq_z_s8(e, tail);
        sum_e = vmladavaq_s8(sum_e, v, w_e);
        weights_e = vaddvaq_s8(weights_e, w_e);
    }
    const int32x4_t weights = mg_mve_lanes(weights_a, weights_b, weights_d, weights_e);
    const int32x4_t sums = mg_mve_lanes(sum_a, sum_b, sum_d, sum_e);
    return vaddq_s32(sums, vmulq_n_s32(weights, p->input_offset));
}

/* Scales the sums of four features. `active` marks the features that exist. */
MG_INLINE int32x4_t mg_dense_s8_mve_scaled(const mg_dense_s8_mve_params *p, int32x4_t sums,
                                           const int32_t *multiplier, const int8_t *shift,
                                           mve_pred16_t active, int requantization)
{
#ifdef MG_MVE_HAS_FLOATS
    if (requantization == MG_ROUND_FLOAT_FPU) {
        return mg_mve_scaled_in_float(sums, (p->per_channel == 0)
                                                ? vdupq_n_s32(multiplier[0])
                                                : vldrwq_z_s32(multiplier, active));
    }
#endif
    if (p->per_channel == 0) {
        const int32_t m = multiplier[0];
        const int32_t s = shift[0];
        if (requantization == MG_ROUND_TWICE) {
            return mg_mve_requantize_n(sums, m, s);
        }
        return mg_mve_lanes(mg_requantize_single(vgetq_lane_s32(sums, 0), m, s),
                            mg_requantize_single(vgetq_lane_s32(sums, 1), m, s),
                            mg_requantize_single(vgetq_lane_s32(sums, 2), m, s),
                            mg_requantize_single(vgetq_lane_s32(sums, 3), m, s));
    }
    const int32x4_t m = vldrwq_z_s32(multiplier, active);
    const int32x4_t s = vldrbq_z_s32(shift, active);
    if (requantization == MG_ROUND_TWICE) {
        return mg_mve_requantize(sums, m, s);
    }
    return mg_mve_lanes(
        mg_requantize_single(vgetq_lane_s32(sums, 0), vgetq_lane_s32(m, 0), vgetq_lane_s32(s, 0)),
        mg_requantize_single(vgetq_lane_s32(sums, 1), vgetq_lane_s32(m, 1), vgetq_lane_s32(s, 1)),
        mg_requantize_single(vgetq_lane_s32(sums, 2), vgetq_lane_s32(m, 2), vgetq_lane_s32(s, 2)),
        mg_requantize_single(vgetq_lane_s32(sums, 3), vgetq_lane_s32(m, 3), vgetq_lane_s32(s, 3)));
}

/* Computes the same as mg_dense_s8_body with the same arguments. `requantization` is
 * MG_ROUND_TWICE, MG_ROUND_NEAREST or MG_ROUND_FLOAT_FPU. */
MG_BODY(mg_dense_s8_mve, int8_t, int requantization)
{
    int8_t *stored = (int8_t *)output;

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t o = 0; o < p->output_features; o += MG_MVE_ROWS) {
            const int32_t count = p->output_features - o;
            const int32_t channel = (p->per_channel != 0) ? o : 0;
            const int8_t *shifts = mg_has_shift(requantization) ? &shift[channel] : NULL;
            const mve_pred16_t active = vctp32q((uint32_t)count);
            const int8_t *first = &weight[o * p->input_features];
            const int8_t *const row[MG_MVE_ROWS] = {
                first,
                first + ((count > 1) ? p->input_features : 0),
                first + ((count > 2) ? 2 * p->input_features : 0),
                first + ((count > 3) ? 3 * p->input_features : 0),
            };
            int32x4_t sums = mg_dense_s8_mve_dot(p, &input[n * p->input_features], row);
            if (bias != NULL) {
                sums = vaddq_s32(sums, vldrwq_z_s32(&bias[o], active));
            }
            const int32x4_t result =
                mg_mve_offset_and_clamp(mg_dense_s8_mve_scaled(p, sums, &multiplier[channel],
                                                               shifts, active, requantization),
                                        p->output_offset, p->activation_min, p->activation_max);
            vstrbq_p_s32(&stored[n * p->output_features + o], result, active);
        }
    }
}

#define MG_DENSE_S8_MVE_KERNEL(name, ...) MG_KERNEL(name, mg_dense_s8_mve, int8_t, __VA_ARGS__)

#else

#define MG_DENSE_S8_MVE_KERNEL(name, ...) MG_DENSE_S8_MVE_PROTOTYPE(name);

#endif

#define MG_DENSE_S8_MVE_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s8_mve, int8_t)

#endif
