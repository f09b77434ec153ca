/* SPDX-License-Identifier: Apache-2.0 */
/* Products of quantized values over any axes. `shape` is that of microgen/reductions/reduction.h.
 */
#ifndef MICROGEN_PRODUCT_H
#define MICROGEN_PRODUCT_H

#include "microgen/reductions/reduction.h"
#include "microgen/requantization/requantize_s16.h"

/* The state before the first value. */
#define MG_NO_PRODUCT INT64_MIN

typedef struct {
    int32_t shape[6];
    int32_t input_offset;  /* minus the input's zero point: -127 to 128 */
    int32_t multiplier;    /* of each product, by mg_requantize_reduced */
    int32_t shift;         /* -31 to 14 */
    int32_t output_offset; /* the output's zero point: -128 to 127 */
} mg_product_params;

/* The scaled product of a state and a value. */
MG_INLINE int64_t mg_product_step(const mg_product_params *p, int64_t state, int32_t value)
{
    const int32_t centred = value + p->input_offset;

    return (state == MG_NO_PRODUCT)
               ? centred
               : mg_requantize_reduced(state * centred, p->multiplier, p->shift);
}

/* The stored result, before it is clamped. */
MG_INLINE int32_t mg_product_result(const mg_product_params *p, int64_t state)
{
    return mg_requantize_reduced(state, p->multiplier, p->shift);
}

typedef mg_product_params mg_reduce_product_s8_params;

MG_INLINE int64_t mg_reduce_product_s8_step(const mg_reduce_product_s8_params *p, int64_t state,
                                            int8_t value)
{
    return mg_product_step(p, state, value);
}

MG_INLINE int8_t mg_reduce_product_s8_result(const mg_reduce_product_s8_params *p, int64_t state)
{
    return mg_offset_and_clamp(mg_product_result(p, state), p->output_offset, INT8_MIN, INT8_MAX);
}

/* Multiplies input [shape] over its reduced axes, in order, and scales each product by
 * mg_requantize_reduced; stores the results, saturated, in output [kept axes]. Output must not
 * overlap the input. */
MG_REDUCTION(mg_reduce_product_s8, int8_t, int64_t, int8_t, MG_NO_PRODUCT)

typedef mg_product_params mg_reduce_product_s16_params;

MG_INLINE int64_t mg_reduce_product_s16_step(const mg_reduce_product_s16_params *p, int64_t state,
                                             int16_t value)
{
    return mg_product_step(p, state, value);
}

MG_INLINE int16_t mg_reduce_product_s16_result(const mg_reduce_product_s16_params *p, int64_t state)
{
    return mg_clamp_s16(mg_product_result(p, state), INT16_MIN, INT16_MAX);
}

/* The same of int16, whose zero points are 0. */
MG_REDUCTION(mg_reduce_product_s16, int16_t, int64_t, int16_t, MG_NO_PRODUCT)

#ifdef MG_PRODUCT_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_reduce_product_s8, int8_t, int8_t)
MG_DEFINE_UNARY(mg_reduce_product_s16, int16_t, int16_t)
#endif

#endif
