/* SPDX-License-Identifier: Apache-2.0 */
/* Means of int8 over any axes, scaled in float32, as ONNX specifies them. */
#ifndef MICROGEN_REDUCE_MEAN_IN_FLOAT_S8_H
#define MICROGEN_REDUCE_MEAN_IN_FLOAT_S8_H

#include "microgen/reductions/reduction.h"
#include "microgen/requantization/requantize.h"
#include "microgen/requantization/requantize_float.h"

typedef struct {
    int32_t shape[6]; /* as microgen/reductions/reduction.h says */
    int32_t bias;     /* minus the input's zero point times the number of values summed */
    int32_t
        multiplier; /* of the scale of sums, as microgen/requantization/requantize_float.h says */
    int32_t shift;  /* the same */
    int32_t output_offset; /* the output's zero point: -128 to 127 */
} mg_reduce_mean_in_float_s8_params;

/* Sums input [shape] over its reduced axes, scales the sums by mg_requantize_float, and stores
 * them, saturated, in output [kept axes]. Output must not overlap the input. Sums must fit int32,
 * bias included. */
MG_DECLARE_UNARY(mg_reduce_mean_in_float_s8, int8_t, int8_t);

MG_INLINE int32_t mg_reduce_mean_in_float_s8_add(const mg_reduce_mean_in_float_s8_params *p,
                                                 int32_t sum, int8_t value)
{
    (void)p;
    return sum + value;
}

MG_INLINE int8_t mg_reduce_mean_in_float_s8_stored(const mg_reduce_mean_in_float_s8_params *p,
                                                   int32_t sum)
{
    return mg_offset_and_clamp(mg_requantize_float(sum + p->bias, p->multiplier, p->shift),
                               p->output_offset, INT8_MIN, INT8_MAX);
}

MG_INLINE void mg_reduce_mean_in_float_s8_body(const mg_reduce_mean_in_float_s8_params *p,
                                               const int8_t *input, int8_t *output)
{
    MG_REDUCE(int32_t, 0, mg_reduce_mean_in_float_s8_add, mg_reduce_mean_in_float_s8_stored, p,
              input, output);
}

#ifdef MG_REDUCE_MEAN_IN_FLOAT_S8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_reduce_mean_in_float_s8, int8_t, int8_t)
#endif

#endif
