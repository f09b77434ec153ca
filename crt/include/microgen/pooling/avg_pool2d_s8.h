/* SPDX-License-Identifier: Apache-2.0 */
/* Average pooling over 2-D windows, int8. */
#ifndef MICROGEN_AVG_POOL2D_S8_H
#define MICROGEN_AVG_POOL2D_S8_H

#include "microgen/pooling/pool.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_pool_params mg_avg_pool2d_s8_params;

MG_INLINE int32_t mg_avg_pool2d_s8_add(int32_t sum, int8_t value)
{
    return sum + value;
}

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

/* Computes the mean of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Padding is ignored. Means are rounded
 * and clamped. `rounding` is a constant of microgen/requantization/scaling_s8.h: MG_ROUND_NEAREST
 * of mg_avg_pool2d_s8, MG_ROUND_UPWARD of mg_avg_pool2d_s8_upward. A window's sum must fit int32,
 * and if ties go upwards, so must the sum of its values plus 128. Output must not overlap the
 * input. */
MG_INLINE void mg_avg_pool2d_s8_body(const mg_avg_pool2d_s8_params *p, const int8_t *input,
                                     int8_t *output, int rounding)
{
    if (rounding == MG_ROUND_UPWARD) {
        MG_POOL(int32_t, 0, mg_avg_pool2d_s8_add, mg_avg_pool2d_s8_mean_upward, p, input, output);
    } else {
        MG_POOL(int32_t, 0, mg_avg_pool2d_s8_add, mg_avg_pool2d_s8_mean_nearest, p, input, output);
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

#endif
