/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected layer, int8, for MVE: raw products of four output features at a time. */
#ifndef MICROGEN_DENSE_S8_ROWS_MVE_H
#define MICROGEN_DENSE_S8_ROWS_MVE_H

#include <stdint.h>

#include "microgen/dense_s8.h"
#include "microgen/mve_rows.h"
#include "microgen/out_of_line.h"
#include "microgen/scaling_s8.h"

typedef mg_dense_s8_params mg_dense_s8_rows_mve_params;

#if defined(__ARM_FEATURE_MVE)

/* MG_LINEAR_VECTOR: what microgen/arithmetic/linear_vector.py computes. The offset contains the
 * bias and the output's zero point. `multiplied` are the multipliers, or one for all in `one`. */
MG_INLINE int32x4_t mg_mve_linear(int32x4_t sums, int32x4_t offset, int32_t left)
{
    return vqaddq_s32(vqshlq_r_s32(sums, left), offset);
}

/* The outputs of one row of inputs. Out of line, so that all layers of a model share it. */
static __attribute__((noinline, unused)) void
mg_mve_dense_row(const mg_dense_s8_params *p, const int8_t *input, const int8_t *weight,
                 const int32_t *offset, const int32_t *multiplier, const int8_t *shift,
                 int8_t *output)
{
    const int32x4_t low = vdupq_n_s32(p->activation_min);
    const int32x4_t high = vdupq_n_s32(p->activation_max);
    const int32_t depth = p->input_features;

    for (int32_t left = p->output_features; left > 0; left -= MG_MVE_FILTERS) {
        const int8_t *const filter[MG_MVE_FILTERS] = {
            weight,
            weight + ((left > 1) ? depth : 0),
            weight + ((left > 2) ? 2 * depth : 0),
            weight + ((left > 3) ? 3 * depth : 0),
        };
        const mve_pred16_t active = vctp32q((uint32_t)left);
        int32x4_t x = mg_mve_dot_four(depth, filter, input);
        x = mg_mve_linear(x, vldrwq_z_s32(offset, active), shift[0]);
        if (p->per_channel != 0) {
            x = vqrdmulhq_s32(x, vldrwq_z_s32(multiplier, active));
            multiplier += MG_MVE_FILTERS;
        } else {
            x = vqrdmulhq_n_s32(x, *multiplier);
        }
        x = vminq_s32(vmaxq_s32(vshlq_r_s32(x, shift[1]), low), high);
        vstrbq_p_s32(output, x, active);
        weight += MG_MVE_FILTERS * depth;
        offset += MG_MVE_FILTERS;
        output += MG_MVE_FILTERS;
    }
}

/* Computes the same as mg_dense_s8_body with the same arguments and MG_LINEAR_VECTOR, which
 * `requantization` is. */
MG_INLINE void mg_dense_s8_rows_mve_body(const mg_dense_s8_params *p, const int8_t *input,
                                         const int8_t *weight, const int32_t *offset,
                                         const int32_t *multiplier, const int8_t *shift,
                                         void *output, int requantization)
{
    int8_t *stored = (int8_t *)output;

    (void)requantization;
    for (int32_t n = 0; n < p->batches; n++) {
        mg_mve_dense_row(p, input, weight, offset, multiplier, shift, stored);
        input += p->input_features;
        stored += p->output_features;
    }
}

#define MG_DENSE_S8_ROWS_MVE_KERNEL(name, ...)                                                     \
    MG_KERNEL(name, mg_dense_s8_rows_mve, int8_t, __VA_ARGS__)

#else

#define MG_DENSE_S8_ROWS_MVE_KERNEL(name, ...) MG_DENSE_S8_ROWS_MVE_PROTOTYPE(name);

#endif

#define MG_DENSE_S8_ROWS_MVE_PROTOTYPE(name) MG_PROTOTYPE(name, mg_dense_s8_rows_mve, int8_t)

#endif
