/* SPDX-License-Identifier: Apache-2.0 */
/* Average pooling over 2-D windows. */
#ifndef MICROGEN_AVG_POOL2D_H
#define MICROGEN_AVG_POOL2D_H

#include "microgen/arithmetic/clamp_f32.h"
#include "microgen/pooling/pool.h"
#include "microgen/requantization/in_float.h"

typedef mg_pool_f32_params mg_avg_pool2d_f32_params;

MG_INLINE float mg_avg_pool2d_f32_step(float sum, float value)
{
    return sum + value;
}

MG_INLINE float mg_avg_pool2d_f32_result(const mg_avg_pool2d_f32_params *p, float sum,
                                         int32_t count)
{
    return mg_clamp_f32(sum / (float)count, p->activation_min, p->activation_max);
}

/* Computes the mean of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Padding is ignored. Values are added row
 * by row. Means are clamped. Output must not overlap the input. */
MG_POOLING(mg_avg_pool2d_f32, float, float, 0.0F)

typedef mg_pool_params mg_avg_pool2d_s16_params;

MG_INLINE int32_t mg_avg_pool2d_s16_step(int32_t sum, int16_t value)
{
    return sum + value;
}

MG_INLINE int16_t mg_avg_pool2d_s16_result(const mg_avg_pool2d_s16_params *p, int32_t sum,
                                           int32_t count)
{
    return (int16_t)mg_pool_mean(p, sum, count);
}

/* Computes the mean of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Padding is ignored. Means are rounded to
 * nearest, ties away from zero, and clamped. A window's sum must fit int32. Output must not overlap
 * the input. */
MG_POOLING(mg_avg_pool2d_s16, int16_t, int32_t, 0)

typedef mg_pool_params mg_avg_pool2d_s32_params;

MG_INLINE uint32_t mg_avg_pool2d_s32_step(uint32_t sum, int32_t value)
{
    return sum + (uint32_t)value;
}

MG_INLINE int32_t mg_avg_pool2d_s32_result(const mg_avg_pool2d_s32_params *p, uint32_t sum,
                                           int32_t count)
{
    return mg_pool_clamped(p, (int32_t)sum / count);
}

/* Computes the mean of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Padding is ignored. Sums are taken
 * modulo 2^32, and quotients are truncated, then clamped. Output must not overlap the input. */
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

/* Computes the mean of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Padding is ignored. A window's sum of n
 * values without the zero point is scaled by input_scale / (n * output_scale). Each operation
 * rounds once, ties to even. The sum must fit int32. Output must not overlap the input. */
MG_DECLARE_UNARY(mg_avg_pool2d_in_float_s8, int8_t, int8_t);

MG_INLINE int32_t mg_avg_pool2d_in_float_s8_add(int32_t sum, int8_t value)
{
    return sum + value;
}

MG_INLINE int8_t mg_avg_pool2d_in_float_s8_mean(const mg_avg_pool2d_in_float_s8_params *p,
                                                int32_t sum, int32_t count)
{
    const float largest = 536870912.0F; /* with a larger scale, all sums but 0 saturate, too */
    const float scale = p->input_scale / ((float)count * p->output_scale);
    const float scaled =
        (float)(sum + count * p->input_offset) * ((scale < largest) ? scale : largest);

    return (int8_t)mg_stored_to_even(scaled, p->output_offset, p->activation_min,
                                     p->activation_max);
}

MG_INLINE void mg_avg_pool2d_in_float_s8_body(const mg_avg_pool2d_in_float_s8_params *p,
                                              const int8_t *input, int8_t *output)
{
    MG_POOL(int32_t, 0, mg_avg_pool2d_in_float_s8_add, mg_avg_pool2d_in_float_s8_mean, p, input,
            output);
}

#ifdef MG_AVG_POOL2D_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_avg_pool2d_f32, float, float)
MG_DEFINE_UNARY(mg_avg_pool2d_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_avg_pool2d_s32, int32_t, int32_t)
MG_DEFINE_UNARY(mg_avg_pool2d_in_float_s8, int8_t, int8_t)
#endif

#endif
