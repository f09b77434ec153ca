/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of quotients that are rounded down, and the exact division of float32 numbers. */
#ifndef MICROGEN_FLOOR_DIVISION_H
#define MICROGEN_FLOOR_DIVISION_H

#include "microgen/arithmetic/float_math.h"
#include "microgen/elementwise/broadcast.h"
#include "tvm/runtime/crt/error_codes.h"

typedef struct {
    int32_t shape[4];      /* of the output */
    int32_t lhs_stride[4]; /* elements between neighbouring indices; 0: broadcast */
    int32_t rhs_stride[4]; /* the same */
    int32_t divisors;      /* elements of rhs */
} mg_floor_division_params;

/* Declares the kernel `symbol` of two operands of `type`, and defines its body as `symbol`_body.
 *
 * The kernel computes function(lhs, rhs) for each element of output
 * [shape[0]][shape[1]][shape[2]][shape[3]] and returns 0. If a divisor is zero, it returns
 * kTvmErrorFunctionCallInvalidArg and leaves output unchanged. Output may be the same buffer as an
 * operand that has the output's shape; otherwise it must not overlap an operand. */
#define MG_FLOOR_DIVISION(symbol, type, function)                                                  \
    typedef mg_floor_division_params symbol##_params;                                              \
    MG_EXTERN int32_t symbol(const symbol##_params *p, const type *lhs, const type *rhs,           \
                             type *output);                                                        \
    MG_INLINE type symbol##_element(const symbol##_params *p, type lhs, type rhs)                  \
    {                                                                                              \
        (void)p;                                                                                   \
        return function(lhs, rhs);                                                                 \
    }                                                                                              \
    MG_INLINE int32_t symbol##_body(const symbol##_params *p, const type *lhs, const type *rhs,    \
                                    type *output)                                                  \
    {                                                                                              \
        for (int32_t i = 0; i < p->divisors; i++) {                                                \
            if (rhs[i] == 0) {                                                                     \
                return (int32_t)kTvmErrorFunctionCallInvalidArg;                                   \
            }                                                                                      \
        }                                                                                          \
        MG_BROADCAST(symbol##_element, p, lhs, rhs, output);                                       \
        return 0;                                                                                  \
    }

/* The same with its out-of-line form. */
#define MG_FLOOR_DIVISION_DEFINED(symbol, type, function)                                          \
    MG_FLOOR_DIVISION(symbol, type, function)                                                      \
    MG_OUT_OF_LINE_STATUS(symbol, (p, lhs, rhs, output), const symbol##_params *p,                 \
                          const type *lhs, const type *rhs, type *output)

/* A positive float is significand * 2^exponent, with a significand in [2^23, 2^24). */
typedef struct {
    uint32_t significand;
    int32_t exponent;
} mg_f32_parts;

/* The parts of the float with these bits, which is positive and finite. */
MG_INLINE mg_f32_parts mg_parts_of_f32(uint32_t bits)
{
    mg_f32_parts parts;

    parts.significand = bits & (MG_F32_HIDDEN_BIT - 1U);
    parts.exponent = (int32_t)(bits >> 23) - MG_F32_EXPONENT_BIAS - 23;
    if (bits >= MG_F32_HIDDEN_BIT) {
        parts.significand |= MG_F32_HIDDEN_BIT;
        return parts;
    }
    for (parts.exponent++; parts.significand < MG_F32_HIDDEN_BIT; parts.exponent--) {
        parts.significand <<= 1;
    }
    return parts;
}

/* integer * 2^exponent, rounded once if it is a normal number, and exact if it is a float. The
 * exponent is from -172 to 253. */
MG_INLINE float mg_scaled_f32(uint32_t integer, int32_t exponent)
{
    const int32_t half = exponent / 2;
    return ((float)integer * mg_power_of_two_f32(half)) * mg_power_of_two_f32(exponent - half);
}

/* x = quotient * 2^dropped * y + remainder * 2^exponent, for the magnitudes of x and y, except that
 * the last bit of the quotient is also set if one of the `dropped` bits after it is. */
typedef struct {
    uint64_t quotient; /* less than 2^60 */
    int32_t dropped;
    uint32_t remainder; /* less than 2^24 */
    int32_t exponent;
} mg_long_division;

/* Divides magnitudes, bit by bit. Both are positive, finite, and x >= y. */
MG_INLINE mg_long_division mg_divide_f32_exactly(uint32_t x_bits, uint32_t y_bits)
{
    const mg_f32_parts x = mg_parts_of_f32(x_bits);
    const mg_f32_parts y = mg_parts_of_f32(y_bits);
    mg_long_division found = {0U, 0, x.significand, y.exponent};

    for (int32_t step = x.exponent - y.exponent; step >= 0; step--) {
        const uint32_t bit = (found.remainder >= y.significand) ? 1U : 0U;
        found.remainder -= (bit != 0U) ? y.significand : 0U;
        found.remainder <<= (step > 0) ? 1 : 0;
        if (found.quotient >> 59 == 0U) {
            found.quotient = (found.quotient << 1) | bit;
        } else {
            found.quotient |= bit;
            found.dropped++;
        }
    }
    return found;
}

/* The remainder of the truncated quotient, which is exact and has the sign of lhs, like C's fmodf.
 * NaN for rhs = 0. */
MG_INLINE float mg_f32_remainder(float lhs, float rhs)
{
    const uint32_t x_bits = mg_magnitude_of_f32(lhs);
    const uint32_t y_bits = mg_magnitude_of_f32(rhs);

    if (x_bits >= MG_F32_INFINITY || y_bits > MG_F32_INFINITY || y_bits == 0U) {
        return mg_f32_of_bits(MG_F32_NAN);
    }
    if (x_bits < y_bits) {
        return lhs;
    }
    const mg_long_division found = mg_divide_f32_exactly(x_bits, y_bits);
    const float remainder = mg_scaled_f32(found.remainder, found.exponent);
    return mg_f32_of_bits(mg_bits_of_f32(remainder) | (mg_bits_of_f32(lhs) & MG_F32_SIGN));
}

#endif
