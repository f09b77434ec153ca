/* SPDX-License-Identifier: Apache-2.0 */
/* Average pooling over 2-D windows: the mean of each window of input
 * [batches][input_height][input_width][channels] in output
 * [batches][output_height][output_width][channels]. Padding is ignored. Output must not overlap
 * the input. */
#ifndef MICROGEN_AVG_POOL2D_H
#define MICROGEN_AVG_POOL2D_H

#include "microgen/arithmetic/clamp.h"
#include "microgen/pooling/pool.h"
#include "microgen/requantization/in_float.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_pool_f32_params mg_avg_pool2d_f32_params;

MG_POOL_SUM_STEP(mg_avg_pool2d_f32, float, float)

MG_INLINE float mg_avg_pool2d_f32_result(const mg_avg_pool2d_f32_params *p, float sum,
                                         int32_t count)
{
    return mg_clamp_f32(sum / (float)count, p->activation_min, p->activation_max);
}

/* Values are added row by row. Means are clamped. */
MG_POOLING(mg_avg_pool2d_f32, float, float, 0.0F)

typedef mg_pool_params mg_avg_pool2d_s16_params;

MG_POOL_SUM_STEP(mg_avg_pool2d_s16, int32_t, int16_t)

MG_INLINE int16_t mg_avg_pool2d_s16_result(const mg_avg_pool2d_s16_params *p, int32_t sum,
                                           int32_t count)
{
    return (int16_t)mg_pool_mean(p, sum, count);
}

/* Means are rounded to nearest, ties away from zero, and clamped. A window's sum must fit int32. */
MG_POOLING(mg_avg_pool2d_s16, int16_t, int32_t, 0)

typedef mg_pool_params mg_avg_pool2d_s32_params;

MG_POOL_SUM_STEP(mg_avg_pool2d_s32, uint32_t, int32_t)

MG_INLINE int32_t mg_avg_pool2d_s32_result(const mg_avg_pool2d_s32_params *p, uint32_t sum,
                                           int32_t count)
{
    return mg_pool_clamped(p, (int32_t)sum / count);
}

/* Sums are taken modulo 2^32, and quotients are truncated, then clamped. */
MG_POOLING(mg_avg_pool2d_s32, int32_t, uint32_t, 0U)

typedef struct {
    MG_POOL_FIELDS
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* activation_min to 127 */
    int32_t input_offset;   /* minus the input's zero point: -127 to 128 */
    int32_t output_offset;  /* the output's zero point: -128 to 127 */
    float input_scale;      /* positive, finite */
    float output_scale;     /* the same */
} mg_avg_pool2d_in_float_s8_params;

MG_POOL_SUM_STEP(mg_avg_pool2d_in_float_s8, int32_t, int8_t)

MG_INLINE int8_t mg_avg_pool2d_in_float_s8_result(const mg_avg_pool2d_in_float_s8_params *p,
                                                  int32_t sum, int32_t count)
{
    const float largest = 536870912.0F; /* with a larger scale, all sums but 0 saturate, too */
    const float scale = p->input_scale / ((float)count * p->output_scale);
    const float scaled =
        (float)(sum + count * p->input_offset) * ((scale < largest) ? scale : largest);

    return (int8_t)mg_stored_to_even(scaled, p->output_offset, p->activation_min,
                                     p->activation_max);
}

/* A window's sum of n values without the zero point is scaled by input_scale / (n * output_scale).
 * Each operation rounds once, ties to even. The sum must fit int32. */
MG_POOLING(mg_avg_pool2d_in_float_s8, int8_t, int32_t, 0)

typedef mg_pool_params mg_avg_pool2d_s8_params;

MG_POOL_SUM_STEP(mg_avg_pool2d_s8, int32_t, int8_t)

/* The means of MG_ROUND_NEAREST and MG_ROUND_UPWARD. The second adds 128 to every value, because
 * then no sum is negative. */
MG_INLINE int8_t mg_avg_pool2d_s8_mean_nearest(const mg_avg_pool2d_s8_params *p, int32_t sum,
                                               int32_t count)
{
    return (int8_t)mg_pool_mean(p, sum, count);
}

MG_INLINE int8_t mg_avg_pool2d_s8_mean_upward(const mg_avg_pool2d_s8_params *p, int32_t sum,
                                              int32_t count)
{
    return (int8_t)mg_pool_clamped(p, (sum + 128 * count + count / 2) / count - 128);
}

/* Means are rounded and clamped. `rounding` is a constant of microgen/requantization/scaling_s8.h:
 * MG_ROUND_NEAREST of mg_avg_pool2d_s8, MG_ROUND_UPWARD of mg_avg_pool2d_s8_upward. A window's sum
 * must fit int32, and if ties go upwards, so must the sum of its values plus 128. */
MG_INLINE void mg_avg_pool2d_s8_body(const mg_avg_pool2d_s8_params *p, const int8_t *input,
                                     int8_t *output, int rounding)
{
    if (rounding == MG_ROUND_UPWARD) {
        MG_POOL(int32_t, 0, mg_avg_pool2d_s8_step, mg_avg_pool2d_s8_mean_upward, p, input, output);
    } else {
        MG_POOL(int32_t, 0, mg_avg_pool2d_s8_step, mg_avg_pool2d_s8_mean_nearest, p, input, output);
    }
}

#define MG_AVG_POOL2D_S8_PROTOTYPE(name)                                                           \
    void name(const mg_avg_pool2d_s8_params *p, const int8_t *input, int8_t *output)
#define MG_AVG_POOL2D_S8_KERNEL(name, rounding)                                                    \
    MG_AVG_POOL2D_S8_PROTOTYPE(name);                                                              \
    MG_AVG_POOL2D_S8_PROTOTYPE(name)                                                               \
    {                                                                                              \
        mg_avg_pool2d_s8_body(p, input, output, rounding);                                         \
    }

#ifdef MG_AVG_POOL2D_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_avg_pool2d_f32, float, float)
MG_DEFINE_UNARY(mg_avg_pool2d_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_avg_pool2d_s32, int32_t, int32_t)
MG_DEFINE_UNARY(mg_avg_pool2d_in_float_s8, int8_t, int8_t)
#endif

#endif
