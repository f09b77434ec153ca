/* SPDX-License-Identifier: Apache-2.0 */
/* mg_pool_mean_s8 with the M-profile vector extension: sixteen channels at a time. */
#ifndef MICROGEN_POOL_MEAN_S8_MVE_H
#define MICROGEN_POOL_MEAN_S8_MVE_H

#include "microgen/blocks/mve.h"
#include "microgen/pooling/pool_mean_s8.h"

typedef mg_pool_mean_s8_params mg_pool_mean_s8_mve_params;

/* Computes what mg_pool_mean_s8 does. */
MG_EXTERN void mg_pool_mean_s8_mve(const mg_pool_mean_s8_mve_params *p, const int8_t *input,
                                   const int32_t *coefficient, int8_t *output);

#if defined(__ARM_FEATURE_MVE)

/* Eight means, each in the lower byte of its lane, from eight sums. */
MG_INLINE int16x8_t mg_pool_mean_s8_mve_means(const mg_pool_mean_s8_params *p,
                                              const int32_t coefficient[2], int16x8_t sums)
{
    const int32x4_t factor = vdupq_n_s32(coefficient[0]);
    const int32x4_t even = vmlasq_n_s32(vmovlbq_s16(sums), factor, coefficient[1]);
    const int32x4_t odd = vmlasq_n_s32(vmovltq_s16(sums), factor, coefficient[1]);
    int16x8_t means = vqmovnbq_s32(sums, vshlq_r_s32(even, -p->shift));
    means = vqmovntq_s32(means, vshlq_r_s32(odd, -p->shift));
    means = vmaxq_s16(means, vdupq_n_s16((int16_t)p->activation_min));
    return vminq_s16(means, vdupq_n_s16((int16_t)p->activation_max));
}

/* The means of up to eight channels, those that are active. Lanes that are not hold zeros. */
MG_INLINE void mg_pool_mean_s8_mve_eight(const mg_pool_mean_s8_params *p, const int8_t *window,
                                         const int32_t coefficient[2], mve_pred16_t active,
                                         int8_t *output)
{
    int16x8_t sums = vdupq_n_s16(0);

    for (int32_t y = 0; y < p->pool_height; y++) {
        const int8_t *tap = &window[y * p->input_width * p->channels];
        for (int32_t x = 0; x < p->pool_width; x++) {
            sums = vaddq_s16(sums, vldrbq_z_s16(tap, active));
            tap += p->channels;
        }
    }
    vstrbq_p_s16(output, mg_pool_mean_s8_mve_means(p, coefficient, sums), active);
}

MG_INLINE void mg_pool_mean_s8_mve_x16(const mg_pool_mean_s8_params *p, const int8_t *window,
                                       const int32_t coefficient[2], int8_t *output)
{
    int16x8_t low = vdupq_n_s16(0);
    int16x8_t high = vdupq_n_s16(0);

    for (int32_t y = 0; y < p->pool_height; y++) {
        const int8_t *tap = &window[y * p->input_width * p->channels];
        for (int32_t x = 0; x < p->pool_width; x++) {
            low = vaddq_s16(low, vldrbq_s16(tap));
            high = vaddq_s16(high, vldrbq_s16(tap + 8));
            tap += p->channels;
        }
    }
    vstrbq_s16(output, mg_pool_mean_s8_mve_means(p, coefficient, low));
    vstrbq_s16(output + 8, mg_pool_mean_s8_mve_means(p, coefficient, high));
}

MG_INLINE void mg_pool_mean_s8_mve_pixel(const mg_pool_mean_s8_params *p, const int8_t *window,
                                         const int32_t coefficient[2], int8_t *output)
{
    int32_t c = 0;

    for (; c < (p->channels & ~15); c += 16) {
        mg_pool_mean_s8_mve_x16(p, &window[c], coefficient, &output[c]);
    }
    for (; c < p->channels; c += 8) {
        mg_pool_mean_s8_mve_eight(p, &window[c], coefficient, vctp16q((uint32_t)(p->channels - c)),
                                  &output[c]);
    }
}

MG_INLINE void mg_pool_mean_s8_mve_body(const mg_pool_mean_s8_mve_params *p, const int8_t *input,
                                        const int32_t *coefficient, int8_t *output)
{
    MG_POOL_MEAN_S8(mg_pool_mean_s8_mve_pixel, p, input, coefficient, output);
}

#ifdef MG_POOL_MEAN_S8_MVE_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_pool_mean_s8_mve, (p, input, coefficient, output),
               const mg_pool_mean_s8_mve_params *p, const int8_t *input, const int32_t *coefficient,
               int8_t *output)
#endif

#endif

#endif
