/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer of int8 data with weights of 4 bits, for MVE: four output features at a
 * time. */
#ifndef MICROGEN_DENSE_S4_MVE_H
#define MICROGEN_DENSE_S4_MVE_H

#include <stddef.h>

#include "microgen/blocks/int4.h"
#include "microgen/blocks/mve.h"
#include "microgen/dense/dense_s4.h"
#include "microgen/dense/dense_s8_mve.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_dense_s4_params mg_dense_s4_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* Unpacks eight bytes in the lower halves of eight lanes: sixteen weights in their order. The lower
 * weight moves to the upper half of its lane's lower byte, and the lane's upper byte becomes a copy
 * of both. Shifting all bytes to the right extends the signs. */
MG_INLINE int8x16_t mg_dense_s4_mve_unpacked(uint16x8_t bytes)
{
    const uint16x8_t both = vsliq_n_u16(vshlq_n_u16(bytes, 4), bytes, 8);
    return vshrq_n_s8(vreinterpretq_s8_u16(both), 4);
}

/* The sums of one output feature: of products, and of weights. */
typedef struct {
    int32_t products;
    int32_t weights;
} mg_dense_s4_mve_sums;

/* The sums with sixteen more products. */
MG_INLINE mg_dense_s4_mve_sums mg_dense_s4_mve_add(mg_dense_s4_mve_sums sums, int8x16_t values,
                                                   uint16x8_t bytes)
{
    const int8x16_t weights = mg_dense_s4_mve_unpacked(bytes);
    sums.products = vmladavaq_s8(sums.products, values, weights);
    sums.weights = vaddvaq_s8(sums.weights, weights);
    return sums;
}

/* The same with up to sixteen, as `tail` says. Values after them are 0. */
MG_INLINE mg_dense_s4_mve_sums mg_dense_s4_mve_finish(mg_dense_s4_mve_sums sums, int8x16_t values,
                                                      const uint8_t *row, mve_pred16_t tail)
{
    const int8x16_t weights = mg_dense_s4_mve_unpacked(vldrbq_z_u16(row, tail));
    sums.products = vmladavaq_s8(sums.products, values, weights);
    sums.weights = vaddvaq_p_s8(sums.weights, weights, tail);
    return sums;
}

/* The sums of products of four output features for one input row, including input_offset. */
MG_INLINE int32x4_t mg_dense_s4_mve_dot(const mg_dense_s4_mve_params *p, const int8_t *input,
                                        const uint8_t *const row[MG_MVE_ROWS])
{
    const int32_t whole = p->input_features / MG_MVE_BYTES;
    const int32_t left = p->input_features % MG_MVE_BYTES;
    mg_dense_s4_mve_sums a = {0, 0};
    mg_dense_s4_mve_sums b = {0, 0};
    mg_dense_s4_mve_sums d = {0, 0};
    mg_dense_s4_mve_sums e = {0, 0};

    for (int32_t i = 0; i < whole; i++) {
        const int8x16_t values = vldrbq_s8(&input[i * MG_MVE_BYTES]);
        const int32_t at = i * (MG_MVE_BYTES / 2);
        a = mg_dense_s4_mve_add(a, values, vldrbq_u16(row[0] + at));
        b = mg_dense_s4_mve_add(b, values, vldrbq_u16(row[1] + at));
        d = mg_dense_s4_mve_add(d, values, vldrbq_u16(row[2] + at));
        e = mg_dense_s4_mve_add(e, values, vldrbq_u16(row[3] + at));
    }
    if (left != 0) {
        const mve_pred16_t tail = vctp8q((uint32_t)left);
        const int8x16_t values = vldrbq_z_s8(&input[whole * MG_MVE_BYTES], tail);
        const int32_t at = whole * (MG_MVE_BYTES / 2);
        a = mg_dense_s4_mve_finish(a, values, row[0] + at, tail);
        b = mg_dense_s4_mve_finish(b, values, row[1] + at, tail);
        d = mg_dense_s4_mve_finish(d, values, row[2] + at, tail);
        e = mg_dense_s4_mve_finish(e, values, row[3] + at, tail);
    }
    const int32x4_t weights = mg_mve_lanes(a.weights, b.weights, d.weights, e.weights);
    const int32x4_t products = mg_mve_lanes(a.products, b.products, d.products, e.products);
    return vaddq_s32(products, vmulq_n_s32(weights, p->input_offset));
}

/* Computes the same as mg_dense_s4_body with the same arguments. `requantization` is MG_ROUND_TWICE
 * or MG_ROUND_NEAREST. */
MG_BODY(mg_dense_s4_mve, uint8_t, int requantization)
{
    int8_t *stored = (int8_t *)output;
    const int32_t step = mg_row_bytes_s4(p->input_features);

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t o = 0; o < p->output_features; o += MG_MVE_ROWS) {
            const int32_t count = p->output_features - o;
            const int32_t channel = (p->per_channel != 0) ? o : 0;
            const mve_pred16_t active = vctp32q((uint32_t)count);
            const uint8_t *first = &weight[o * step];
            const uint8_t *const row[MG_MVE_ROWS] = {
                first,
                first + ((count > 1) ? step : 0),
                first + ((count > 2) ? 2 * step : 0),
                first + ((count > 3) ? 3 * step : 0),
            };
            int32x4_t sums = mg_dense_s4_mve_dot(p, &input[n * p->input_features], row);
            if (bias != NULL) {
                sums = vaddq_s32(sums, vldrwq_z_s32(&bias[o], active));
            }
            const int32x4_t result = mg_mve_offset_and_clamp(
                mg_dense_s8_mve_scaled(p, sums, &multiplier[channel], &shift[channel], active,
                                       requantization),
                p->output_offset, p->activation_min, p->activation_max);
            vstrbq_p_s32(&stored[n * p->output_features + o], result, active);
        }
    }
}

#define MG_DENSE_S4_MVE_KERNEL(name, ...) MG_KERNEL(name, mg_dense_s4_mve, uint8_t, __VA_ARGS__)

#else

#define MG_DENSE_S4_MVE_KERNEL(name, ...) MG_DENSE_S4_MVE_PROTOTYPE(name);

#endif

#define MG_DENSE_S4_MVE_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s4_mve, uint8_t)

#endif
