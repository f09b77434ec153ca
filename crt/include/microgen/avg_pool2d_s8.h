/* SPDX-License-Identifier: Apache-2.0 */
/* Average pooling over 2-D windows, int8. */
#ifndef MICROGEN_AVG_POOL2D_S8_H
#define MICROGEN_AVG_POOL2D_S8_H

#include <stdint.h>

#include "microgen/inline.h"
#include "microgen/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_pool_params mg_avg_pool2d_s8_params;

/* Computes the mean of each window of input [batches][input_height][input_width][channels] into
 * output [batches][output_height][output_width][channels]. Padding is ignored. Means are rounded to
 * nearest, ties away from zero, and clamped. A window's sum must fit int32. Output must not overlap
 * the input. */
void mg_avg_pool2d_s8(const mg_avg_pool2d_s8_params *p, const int8_t *input, int8_t *output);

MG_INLINE int32_t mg_avg_pool2d_s8_add(int32_t sum, int8_t value)
{
    return sum + value;
}

MG_INLINE int8_t mg_avg_pool2d_s8_mean(const mg_avg_pool2d_s8_params *p, int32_t sum, int32_t count)
{
    return (int8_t)mg_pool_mean(p, sum, count);
}

MG_INLINE void mg_avg_pool2d_s8_body(const mg_avg_pool2d_s8_params *p, const int8_t *input,
                                     int8_t *output)
{
    MG_POOL(int32_t, 0, mg_avg_pool2d_s8_add, mg_avg_pool2d_s8_mean, p, input, output);
}

#ifdef MG_AVG_POOL2D_S8_IMPLEMENTATION /* the out-of-line form */
void mg_avg_pool2d_s8(const mg_avg_pool2d_s8_params *p, const int8_t *input, int8_t *output)
{
    mg_avg_pool2d_s8_body(p, input, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
