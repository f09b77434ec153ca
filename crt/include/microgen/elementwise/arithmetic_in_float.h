/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, differences and products of the numbers that int8 and int16 tensors store, in float32, as
 * ONNX's quantized operators specify them. The Python twin is
 * microgen/graph/arithmetic/in_float32.py. */
#ifndef MICROGEN_ARITHMETIC_IN_FLOAT_H
#define MICROGEN_ARITHMETIC_IN_FLOAT_H

#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/in_float.h"

#ifdef MG_ARITHMETIC_IN_FLOAT_IMPLEMENTATION /* with the out-of-line forms */
#define MG_ARITHMETIC_IN_FLOAT_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_ARITHMETIC_IN_FLOAT_EACH MG_ELEMENTWISE
#endif

typedef struct {
    MG_BROADCAST_SHAPES
    MG_BROADCAST_OFFSETS
    float lhs_scale;        /* positive, finite */
    float rhs_scale;        /* the same */
    float output_scale;     /* the same */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* activation_min to 127 */
} mg_in_float_params;

/* The number that a value of each operand means. */
MG_INLINE float mg_in_float_left(const mg_in_float_params *p, int32_t lhs)
{
    return (float)(lhs + p->lhs_offset) * p->lhs_scale;
}

MG_INLINE float mg_in_float_right(const mg_in_float_params *p, int32_t rhs)
{
    return (float)(rhs + p->rhs_offset) * p->rhs_scale;
}

/* The stored value of a number. */
MG_INLINE int32_t mg_in_float_stored(const mg_in_float_params *p, float x)
{
    return mg_stored_to_even(x / p->output_scale, p->output_offset, p->activation_min,
                             p->activation_max);
}

/* Each operation rounds once, so compilers must not contract products and sums
 * (-ffp-contract=off). */
MG_ARITHMETIC_IN_FLOAT_EACH(mg_add_in_float_s8, mg_in_float_params, int8_t, int8_t,
                            mg_in_float_stored(p, mg_in_float_left(p, lhs) +
                                                      mg_in_float_right(p, rhs)))
MG_ARITHMETIC_IN_FLOAT_EACH(mg_subtract_in_float_s8, mg_in_float_params, int8_t, int8_t,
                            mg_in_float_stored(p, mg_in_float_left(p, lhs) -
                                                      mg_in_float_right(p, rhs)))
MG_ARITHMETIC_IN_FLOAT_EACH(mg_multiply_in_float_s8, mg_in_float_params, int8_t, int8_t,
                            mg_in_float_stored(p, mg_in_float_left(p, lhs) *
                                                      mg_in_float_right(p, rhs)))

/* Zero points are 0. The activation is from -32768 to 32767. */
MG_ARITHMETIC_IN_FLOAT_EACH(mg_add_in_float_s16, mg_in_float_params, int16_t, int16_t,
                            mg_in_float_stored(p, mg_in_float_left(p, lhs) +
                                                      mg_in_float_right(p, rhs)))
MG_ARITHMETIC_IN_FLOAT_EACH(mg_subtract_in_float_s16, mg_in_float_params, int16_t, int16_t,
                            mg_in_float_stored(p, mg_in_float_left(p, lhs) -
                                                      mg_in_float_right(p, rhs)))
MG_ARITHMETIC_IN_FLOAT_EACH(mg_multiply_in_float_s16, mg_in_float_params, int16_t, int16_t,
                            mg_in_float_stored(p, mg_in_float_left(p, lhs) *
                                                      mg_in_float_right(p, rhs)))

#endif
