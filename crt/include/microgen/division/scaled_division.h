/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise division of int8 and int16 tensors with broadcasting. */
#ifndef MICROGEN_SCALED_DIVISION_H
#define MICROGEN_SCALED_DIVISION_H

#include "microgen/arithmetic/fixed_point.h"
#include "microgen/elementwise/broadcast.h"
#include "microgen/requantization/requantize.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef MG_SCALED_DIVISION_IMPLEMENTATION /* with the out-of-line forms */
#define MG_SCALED_DIVISION_EACH MG_SCALED_DIVISION_DEFINED
#else
#define MG_SCALED_DIVISION_EACH MG_SCALED_DIVISION
#endif

typedef struct {
    MG_BROADCAST_SHAPES
    MG_BROADCAST_OFFSETS
    int32_t
        multiplier; /* from quotients to the output, as microgen/requantization/requantize.h says */
    int32_t shift;  /* int8: -24 to 23, int16: -17 to 23 */
    int32_t activation_min; /* a value of the output's type */
    int32_t activation_max; /* activation_min or more */
    int32_t divisors;       /* elements of rhs */
} mg_scaled_division_params;

/* The number of bits of x >= 0 without leading zeros. */
MG_INLINE int32_t mg_divide_bits(int32_t x)
{
    int32_t bits = 0;

    while ((x >> bits) != 0) {
        bits++;
    }
    return bits;
}

/* x / 2^exponent, rounded to nearest, ties away from zero, for an exponent in [0, 31]. For -8 to -1
 * and for 32 to 63 the result is TFLite's on a CPU that takes shift counts modulo 32. */
MG_INLINE int32_t mg_divide_shifted(int32_t x, int32_t exponent)
{
    if ((exponent >= 0) && (exponent < 32)) {
        return mg_divide_by_power_of_two(x, exponent);
    }
    return mg_shift_right(x, (int32_t)((uint32_t)exponent & 31U)) + ((x >= 0) ? 1 : 0);
}

/* The quotient of a dividend of at most 17 bits with its sign and a divisor of 1 to 2^16 - 1, on
 * the output's scale. It is the dividend, shifted left as far as int32 allows, times the divisor's
 * reciprocal. */
MG_INLINE int32_t mg_divide_scaled(const mg_scaled_division_params *p, int32_t dividend,
                                   int32_t divisor)
{
    const int32_t headroom = 31 - mg_divide_bits((dividend < 0) ? ~dividend : dividend);
    const int32_t bits = mg_divide_bits(divisor);
    const uint32_t fraction = ((uint32_t)divisor << (32 - bits)) & (uint32_t)INT32_MAX;
    const int32_t reciprocal = mg_one_over_one_plus((int32_t)fraction);
    const int32_t quotient = mg_multiply_high(mg_shift_left(dividend, headroom), reciprocal);
    return mg_divide_shifted(mg_multiply_high(quotient, p->multiplier),
                             headroom + bits - 1 - p->shift);
}

/* The stored output value of the quotient of two stored values. rhs must not represent zero. */
MG_INLINE int32_t mg_scaled_quotient(const mg_scaled_division_params *p, int32_t lhs, int32_t rhs)
{
    const int32_t left = lhs + p->lhs_offset;
    const int32_t right = rhs + p->rhs_offset;
    const int32_t scaled =
        (right < 0) ? mg_divide_scaled(p, -left, -right) : mg_divide_scaled(p, left, right);
    return mg_offset_and_clamp_wide(scaled, p->output_offset, p->activation_min, p->activation_max);
}

/* Declares the kernel `symbol` of stored values of `type`, and defines its body as `symbol`_body.
 *
 * The kernel divides lhs by rhs into output [shape[0]][shape[1]][shape[2]][shape[3]] and returns 0.
 * If a divisor is zero, it returns kTvmErrorFunctionCallInvalidArg and leaves output unchanged.
 * Output may be the same buffer as an operand that has the output's shape; otherwise it must not
 * overlap an operand. */
#define MG_SCALED_DIVISION(symbol, type)                                                           \
    typedef mg_scaled_division_params symbol##_params;                                             \
    MG_EXTERN int32_t symbol(const symbol##_params *p, const type *lhs, const type *rhs,           \
                             type *output);                                                        \
    MG_INLINE type symbol##_element(const symbol##_params *p, type lhs, type rhs)                  \
    {                                                                                              \
        return (type)mg_scaled_quotient(p, lhs, rhs);                                              \
    }                                                                                              \
    MG_INLINE int32_t symbol##_body(const symbol##_params *p, const type *lhs, const type *rhs,    \
                                    type *output)                                                  \
    {                                                                                              \
        for (int32_t i = 0; i < p->divisors; i++) {                                                \
            if (rhs[i] + p->rhs_offset == 0) {                                                     \
                return (int32_t)kTvmErrorFunctionCallInvalidArg;                                   \
            }                                                                                      \
        }                                                                                          \
        MG_BROADCAST(symbol##_element, p, lhs, rhs, output);                                       \
        return 0;                                                                                  \
    }

/* The same with its out-of-line form. */
#define MG_SCALED_DIVISION_DEFINED(symbol, type)                                                   \
    MG_SCALED_DIVISION(symbol, type)                                                               \
    MG_OUT_OF_LINE_STATUS(symbol, (p, lhs, rhs, output), const symbol##_params *p,                 \
                          const type *lhs, const type *rhs, type *output)

MG_SCALED_DIVISION_EACH(mg_divide_s8, int8_t)
MG_SCALED_DIVISION_EACH(mg_divide_s16, int16_t)

#endif
