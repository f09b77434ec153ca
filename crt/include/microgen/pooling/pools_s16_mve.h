/* SPDX-License-Identifier: Apache-2.0 */
/* mg_max_pool2d_s16 and mg_avg_pool2d_s16 with the M-profile vector extension: eight channels at a
 * time.
 *
 * A mean is a product with ceil(2^32 / count), whose upper half is the quotient of sums below
 * 2^32 / count. The largest sum is 2^15 * count + count / 2, so that is exact for the means of up
 * to MG_POOLED_S16 values. */
#ifndef MICROGEN_POOLS_S16_MVE_H
#define MICROGEN_POOLS_S16_MVE_H

#include "microgen/blocks/mve.h"
#include "microgen/pooling/avg_pool2d.h"
#include "microgen/pooling/max_pool2d.h"
#include "microgen/pooling/pool.h"
#include "microgen/window.h"

enum {
    MG_POOLED_S16 = 256 /* values of a window */
};

typedef mg_pool_params mg_max_pool2d_s16_mve_params;
typedef mg_pool_params mg_avg_pool2d_s16_mve_params;

/* Each computes what the kernel without "_mve" does. Windows of means have at most MG_POOLED_S16
 * values. */
MG_DECLARE_UNARY(mg_max_pool2d_s16_mve, int16_t, int16_t);
MG_DECLARE_UNARY(mg_avg_pool2d_s16_mve, int16_t, int16_t);

#if defined(__ARM_FEATURE_MVE)

MG_POOL_WINDOW(mg_pool_window_s16, mg_pool_params, int16_t)

/* The maxima of the first eight channels from `tap` on, of those that are active. */
MG_INLINE int16x8_t mg_pool_s16_mve_maxima(const mg_pool_params *p,
                                           const mg_pool_window_s16 *window, const int16_t *first,
                                           mve_pred16_t active)
{
    int16x8_t largest = vdupq_n_s16((int16_t)p->activation_min);

    for (int32_t y = 0; y < window->height; y++) {
        const int16_t *tap = &first[y * p->input_width * p->channels];
        for (int32_t x = window->width; x > 0; x--) {
            largest = vmaxq_s16(largest, vldrhq_z_s16(tap, active));
            tap += p->channels;
        }
    }
    return largest;
}

/* The means of sums of `count` values, ties away from zero. */
MG_INLINE int32x4_t mg_pool_s16_mve_mean(int32x4_t sums, int32_t count, uint32_t reciprocal)
{
    const int32x4_t sign = vshrq_n_s32(sums, 31);
    const uint32x4_t raised =
        vaddq_n_u32(vreinterpretq_u32_s32(vabsq_s32(sums)), (uint32_t)count / 2U);
    const uint32x4_t mean = (count > 1) ? vmulhq_u32(raised, vdupq_n_u32(reciprocal)) : raised;
    return vsubq_s32(veorq_s32(vreinterpretq_s32_u32(mean), sign), sign);
}

/* The same of the first eight channels, not clamped. */
MG_INLINE int16x8_t mg_pool_s16_mve_means(const mg_pool_params *p, const mg_pool_window_s16 *window,
                                          const int16_t *first, mve_pred16_t active)
{
    const int32_t count = window->height * window->width;
    const uint32_t reciprocal = UINT32_MAX / (uint32_t)count + 1U;
    int32x4_t even = vdupq_n_s32(0);
    int32x4_t odd = vdupq_n_s32(0);

    for (int32_t y = 0; y < window->height; y++) {
        const int16_t *tap = &first[y * p->input_width * p->channels];
        for (int32_t x = window->width; x > 0; x--) {
            const int16x8_t values = vldrhq_z_s16(tap, active);
            even = vaddq_s32(even, vmovlbq_s16(values));
            odd = vaddq_s32(odd, vmovltq_s16(values));
            tap += p->channels;
        }
    }
    const int16x8_t means =
        vmovnbq_s32(vdupq_n_s16(0), mg_pool_s16_mve_mean(even, count, reciprocal));
    return vmovntq_s32(means, mg_pool_s16_mve_mean(odd, count, reciprocal));
}

/* Computes the pool, of maxima or of means. */
MG_INLINE void mg_pool_s16_mve(const mg_pool_params *p, const int16_t *input, int16_t *output,
                               int is_mean)
{
    const int16x8_t least = vdupq_n_s16((int16_t)p->activation_min);
    const int16x8_t most = vdupq_n_s16((int16_t)p->activation_max);
    int16_t *to = output;

    for (int32_t n = 0; n < p->batches; n++) {
        const int16_t *image = &input[n * p->input_height * p->input_width * p->channels];
        for (int32_t pixel = 0; pixel < p->output_height * p->output_width; pixel++) {
            const mg_pool_window_s16 window =
                mg_pool_window_s16_at(p, image, pixel / p->output_width, pixel % p->output_width);
            for (int32_t c = 0; c < p->channels; c += 8) {
                const mve_pred16_t active = vctp16q((uint32_t)(p->channels - c));
                const int16x8_t found =
                    is_mean ? vmaxq_s16(mg_pool_s16_mve_means(p, &window, &window.first[c], active),
                                        least)
                            : mg_pool_s16_mve_maxima(p, &window, &window.first[c], active);
                vstrhq_p_s16(&to[c], vminq_s16(found, most), active);
            }
            to += p->channels;
        }
    }
}

MG_INLINE void mg_max_pool2d_s16_mve_body(const mg_max_pool2d_s16_mve_params *p,
                                          const int16_t *input, int16_t *output)
{
    mg_pool_s16_mve(p, input, output, 0);
}

MG_INLINE void mg_avg_pool2d_s16_mve_body(const mg_avg_pool2d_s16_mve_params *p,
                                          const int16_t *input, int16_t *output)
{
    mg_pool_s16_mve(p, input, output, 1);
}

#ifdef MG_POOLS_S16_MVE_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_max_pool2d_s16_mve, int16_t, int16_t)
MG_DEFINE_UNARY(mg_avg_pool2d_s16_mve, int16_t, int16_t)
#endif

#endif

#endif
