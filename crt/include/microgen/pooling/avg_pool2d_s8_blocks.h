/* SPDX-License-Identifier: Apache-2.0 */
/* mg_avg_pool2d_s8 for several channels at a time and without a division for each of them: in plain
 * C, with DSP instructions, with MVE.
 *
 * A window has n values inside the input. With the shift s = 23 and A = floor(2^s / n) + 1, which
 * is d more than 2^s / n, 0 < d <= 1, the mean is
 *
 *     (sum * A + C) >> s = floor(sum / n + 1/2 + error),  C = 2^(s-1) + ties_upward * 128 * n * d
 *
 * Ties go away from zero without the last term, because then the error, sum * d / 2^s, has the
 * sign of the sum. With it, the error is that of the sum of n values plus 128, which is not
 * negative, so ties go upwards. A sum that is no tie is at least 1 / (2 * n) away from one. The
 * error is less if n is 128 or less. */
#ifndef MICROGEN_AVG_POOL2D_S8_BLOCKS_H
#define MICROGEN_AVG_POOL2D_S8_BLOCKS_H

#include "microgen/pooling/pool_mean_s8.h"
#include "microgen/pooling/pool_mean_s8_dsp.h"
#include "microgen/pooling/pool_mean_s8_mve.h"
#include "microgen/pooling/pool_windows_s8.h"

#define MG_AVG_POOL2D_S8_SHIFT 23

typedef struct {
    mg_pool_params pool; /* windows have at most 128 values */
    int32_t ties_upward; /* 0 or 1 */
} mg_avg_pool2d_s8_portable_params;

typedef mg_avg_pool2d_s8_portable_params mg_avg_pool2d_s8_dsp_params;
typedef mg_avg_pool2d_s8_portable_params mg_avg_pool2d_s8_mve_params;

/* Each computes what mg_avg_pool2d_s8 does, or mg_avg_pool2d_s8_upward if ties_upward is 1. Values
 * may be at any address. */
MG_DECLARE_UNARY(mg_avg_pool2d_s8_portable, int8_t, int8_t);
MG_DECLARE_UNARY(mg_avg_pool2d_s8_dsp, int8_t, int8_t);
MG_DECLARE_UNARY(mg_avg_pool2d_s8_mve, int8_t, int8_t);

/* The fields that functions for one window of mg_pool_mean_s8 read, and its A and C. */
MG_INLINE mg_pool_mean_s8_params mg_avg_pool2d_s8_part(const mg_avg_pool2d_s8_portable_params *p,
                                                       const mg_pool_window *window,
                                                       int32_t coefficient[2])
{
    const int32_t one = (int32_t)1 << MG_AVG_POOL2D_S8_SHIFT;
    const int32_t count = window->height * window->width;
    const int32_t factor = one / count + 1;
    mg_pool_mean_s8_params part;

    part.input_width = p->pool.input_width;
    part.channels = p->pool.channels;
    part.pool_height = window->height;
    part.pool_width = window->width;
    part.shift = MG_AVG_POOL2D_S8_SHIFT;
    part.activation_min = p->pool.activation_min;
    part.activation_max = p->pool.activation_max;
    coefficient[0] = factor;
    coefficient[1] = one / 2 + p->ties_upward * 128 * (factor * count - one);
    return part;
}

/* Defines the body of mg_avg_pool2d_s8_`form`. `mean` computes the means of one window. */
#define MG_AVG_POOL2D_S8_BLOCKS(form, mean)                                                        \
    MG_INLINE void mg_avg_pool2d_s8_##form##_pixel(const mg_avg_pool2d_s8_portable_params *p,      \
                                                   const mg_pool_window *window, int8_t *output)   \
    {                                                                                              \
        int32_t coefficient[2];                                                                    \
        const mg_pool_mean_s8_params part = mg_avg_pool2d_s8_part(p, window, coefficient);         \
        mean(&part, window->first, coefficient, output);                                           \
    }                                                                                              \
    MG_INLINE void mg_avg_pool2d_s8_##form##_body(const mg_avg_pool2d_s8_portable_params *p,       \
                                                  const int8_t *input, int8_t *output)             \
    {                                                                                              \
        MG_POOL_WINDOWS(mg_avg_pool2d_s8_##form##_pixel, p, &p->pool, input, output);              \
    }

MG_AVG_POOL2D_S8_BLOCKS(portable, mg_pool_mean_s8_pixel)
MG_AVG_POOL2D_S8_BLOCKS(dsp, mg_pool_mean_s8_dsp_pixel)
#if defined(__ARM_FEATURE_MVE)
MG_AVG_POOL2D_S8_BLOCKS(mve, mg_pool_mean_s8_mve_pixel)
#endif

#ifdef MG_AVG_POOL2D_S8_BLOCKS_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_avg_pool2d_s8_portable, int8_t, int8_t)

MG_DEFINE_UNARY(mg_avg_pool2d_s8_dsp, int8_t, int8_t)

#if defined(__ARM_FEATURE_MVE)
MG_DEFINE_UNARY(mg_avg_pool2d_s8_mve, int8_t, int8_t)
#endif
#endif

#endif
