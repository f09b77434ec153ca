/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise division of int8 tensors with broadcasting. */
#ifndef MICROGEN_DIVIDE_S8_H
#define MICROGEN_DIVIDE_S8_H

#include "microgen/arithmetic/fixed_point.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/requantize.h"
#include "tvm/runtime/crt/error_codes.h"

typedef struct {
    MG_BROADCAST_SHAPES
    MG_BROADCAST_OFFSETS
    int32_t
        multiplier; /* from quotients to the output, as microgen/requantization/requantize.h says */
    int32_t shift;  /* -24 to 23 */
    int32_t activation_min; /* -128 to 127 */
    int32_t activation_max; /* activation_min to 127 */
    int32_t divisors;       /* elements of rhs */
} mg_divide_s8_params;

/* Divides lhs by rhs into output [shape[0]][shape[1]][shape[2]][shape[3]] and returns 0. If a
 * divisor is zero, returns kTvmErrorFunctionCallInvalidArg and leaves output unchanged.
 *
 * Output may be the same buffer as an operand that has the output's shape; otherwise it must not
 * overlap an operand. */
MG_EXTERN int32_t mg_divide_s8(const mg_divide_s8_params *p, const int8_t *lhs, const int8_t *rhs,
                               int8_t *output);

/* The number of bits of x, 0 to 255, without leading zeros. */
MG_INLINE int32_t mg_divide_s8_bits(int32_t x)
{
    int32_t bits = 0;

    while ((x >> bits) != 0) {
        bits++;
    }
    return bits;
}

/* x / 2^exponent, rounded to nearest, ties away from zero, for an exponent in [0, 31]. For 32 to 63
 * the result is TFLite's on a CPU that takes shift counts modulo 32. */
MG_INLINE int32_t mg_divide_s8_shifted(int32_t x, int32_t exponent)
{
    if (exponent < 32) {
        return mg_divide_by_power_of_two(x, exponent);
    }
    return mg_shift_right(x, exponent - 32) + ((x >= 0) ? 1 : 0);
}

/* The quotient of a dividend of -255 to 255 and a divisor of 1 to 255, on the output's scale. It is
 * the dividend, shifted left as far as int32 allows, times the divisor's reciprocal. */
MG_INLINE int32_t mg_divide_s8_scaled(const mg_divide_s8_params *p, int32_t dividend,
                                      int32_t divisor)
{
    const int32_t headroom = 31 - mg_divide_s8_bits((dividend < 0) ? ~dividend : dividend);
    const int32_t bits = mg_divide_s8_bits(divisor);
    const uint32_t fraction = ((uint32_t)divisor << (32 - bits)) & (uint32_t)INT32_MAX;
    const int32_t reciprocal = mg_one_over_one_plus((int32_t)fraction);
    const int32_t quotient = mg_multiply_high(mg_shift_left(dividend, headroom), reciprocal);
    return mg_divide_s8_shifted(mg_multiply_high(quotient, p->multiplier),
                                headroom + bits - 1 - p->shift);
}

/* The stored output value of the quotient of two stored values. rhs must not represent zero. */
MG_INLINE int8_t mg_divide_s8_element(const mg_divide_s8_params *p, int8_t lhs, int8_t rhs)
{
    const int32_t left = lhs + p->lhs_offset;
    const int32_t right = rhs + p->rhs_offset;
    const int32_t scaled =
        (right < 0) ? mg_divide_s8_scaled(p, -left, -right) : mg_divide_s8_scaled(p, left, right);
    return mg_offset_and_clamp(scaled, p->output_offset, p->activation_min, p->activation_max);
}

MG_INLINE int32_t mg_divide_s8_body(const mg_divide_s8_params *p, const int8_t *lhs,
                                    const int8_t *rhs, int8_t *output)
{
    for (int32_t i = 0; i < p->divisors; i++) {
        if (rhs[i] + p->rhs_offset == 0) {
            return (int32_t)kTvmErrorFunctionCallInvalidArg;
        }
    }
    MG_BROADCAST(mg_divide_s8_element, p, lhs, rhs, output);
    return 0;
}

#ifdef MG_DIVIDE_S8_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE_STATUS(mg_divide_s8, (p, lhs, rhs, output), const mg_divide_s8_params *p,
                      const int8_t *lhs, const int8_t *rhs, int8_t *output)
#endif

#endif
