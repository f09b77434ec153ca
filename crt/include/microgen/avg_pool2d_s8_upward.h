/* SPDX-License-Identifier: Apache-2.0 */
/* Average pooling over 2-D windows, int8, rounded as uint8 values are. */
#ifndef MICROGEN_AVG_POOL2D_S8_UPWARD_H
#define MICROGEN_AVG_POOL2D_S8_UPWARD_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_pool_params mg_avg_pool2d_s8_upward_params;

/* Computes the same as mg_avg_pool2d_s8, but ties are rounded upwards. */
void mg_avg_pool2d_s8_upward(const mg_avg_pool2d_s8_upward_params *p, const int8_t *input,
                             int8_t *output);

/* The state is the sum of values plus 128, which is not negative. */
MG_INLINE int32_t mg_avg_pool2d_s8_upward_add(int32_t sum, int8_t value)
{
    return sum + value + 128;
}

MG_INLINE int8_t mg_avg_pool2d_s8_upward_mean(const mg_avg_pool2d_s8_upward_params *p, int32_t sum,
                                              int32_t count)
{
    return (int8_t)mg_pool_clamped(p, (sum + count / 2) / count - 128);
}

MG_INLINE void mg_avg_pool2d_s8_upward_body(const mg_avg_pool2d_s8_upward_params *p,
                                            const int8_t *input, int8_t *output)
{
    MG_POOL(int32_t, 0, mg_avg_pool2d_s8_upward_add, mg_avg_pool2d_s8_upward_mean, p, input,
            output);
}

#ifdef MG_AVG_POOL2D_S8_UPWARD_IMPLEMENTATION /* the out-of-line form */
void mg_avg_pool2d_s8_upward(const mg_avg_pool2d_s8_upward_params *p, const int8_t *input,
                             int8_t *output)
{
    mg_avg_pool2d_s8_upward_body(p, input, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
