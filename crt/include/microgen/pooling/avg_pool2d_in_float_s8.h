/* SPDX-License-Identifier: Apache-2.0 */
/* Average pooling over 2-D windows of int8, scaled in float32, as ONNX specifies it. */
#ifndef MICROGEN_AVG_POOL2D_IN_FLOAT_S8_H
#define MICROGEN_AVG_POOL2D_IN_FLOAT_S8_H

#include "microgen/pooling/pool.h"
#include "microgen/requantization/in_float.h"

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

#ifdef MG_AVG_POOL2D_IN_FLOAT_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_avg_pool2d_in_float_s8, int8_t, int8_t)
#endif

#endif
