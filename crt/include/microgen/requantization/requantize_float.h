/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling in float32, computed in integers: the quantized operators of ONNX. The Python twin is
 * microgen/graph/arithmetic/in_float32.py, which computes the same values in floats, bit for bit.
 *
 * A scale is float32: its multiplier, Q31 as in microgen/requantization/requantize.h, is a multiple
 * of 2^7. */
#ifndef MICROGEN_REQUANTIZE_FLOAT_H
#define MICROGEN_REQUANTIZE_FLOAT_H

#include "microgen/requantization/requantize.h"

#define MG_FLOAT_BITS 24                  /* of a float's significand */
#define MG_FLOAT_LIMIT ((int32_t)1 << 30) /* of results */

/* x / 2^bits, rounded to nearest, ties to even; bits in [0, 62], x at most 2^63. */
MG_INLINE uint64_t mg_divide_to_even(uint64_t x, int32_t bits)
{
    if (bits == 0) {
        return x;
    }
    const uint64_t half = (uint64_t)1 << (bits - 1);
    return (x + (half - 1U) + ((x >> bits) & 1U)) >> bits;
}

/* A number as significand * 2^exponent, for values of at most 24 bits. */
typedef struct {
    uint32_t significand; /* at most 2^24 */
    int32_t exponent;
} mg_float_parts;

/* x * 2^exponent, rounded to float32. */
MG_INLINE mg_float_parts mg_float_of(uint64_t x, int32_t exponent)
{
    const int32_t length = mg_bit_length_u64(x);
    const int32_t bits = (length > MG_FLOAT_BITS) ? (length - MG_FLOAT_BITS) : 0;
    const mg_float_parts parts = {(uint32_t)mg_divide_to_even(x, bits), exponent + bits};
    return parts;
}

/* The nearest integer, ties to even; larger ones than MG_FLOAT_LIMIT become that. */
MG_INLINE int32_t mg_float_integer(mg_float_parts x)
{
    if (x.exponent <= 0) {
        const int32_t bits = (x.exponent < -31) ? 31 : -x.exponent;
        return (int32_t)mg_divide_to_even(x.significand, bits);
    }
    if ((x.significand == 0U) || (x.exponent > 30) ||
        (x.significand > ((uint32_t)MG_FLOAT_LIMIT >> x.exponent))) {
        return (x.significand == 0U) ? 0 : MG_FLOAT_LIMIT;
    }
    return (int32_t)(x.significand << x.exponent);
}

/* x times the scale. x becomes float32, so does the product, and then it becomes an integer, each
 * time rounded to nearest, ties to even. The result is at most MG_FLOAT_LIMIT in magnitude.
 *
 * Scales are below 2^30, or else every x but 0 has a result of that magnitude.
 *
 * It is not forced into its callers, unlike the others: it is as long as all other requantizations
 * together, of which compilers make a copy at each place where an output is stored. */
static inline int32_t mg_requantize_float(int64_t x, int32_t multiplier, int32_t shift)
{
    const uint64_t magnitude = (x < 0) ? (0U - (uint64_t)x) : (uint64_t)x;
    const mg_float_parts sum = mg_float_of(magnitude, 0);
    const uint64_t product = (uint64_t)sum.significand * ((uint32_t)multiplier >> 7);
    const int32_t result =
        mg_float_integer(mg_float_of(product, sum.exponent + shift - MG_FLOAT_BITS));
    return (x < 0) ? -result : result;
}

#endif
