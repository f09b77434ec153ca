/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of each int16 value. Output may be the same buffer as the input; otherwise they must
 * not overlap. */
#ifndef MICROGEN_UNARY_S16_H
#define MICROGEN_UNARY_S16_H

#include "microgen/arithmetic/clamp.h"
#include "microgen/arithmetic/float_math.h"
#include "microgen/requantization/requantize.h"
#include "microgen/unary/sigmoid_table_s16.h"
#include "microgen/unary/unary.h"

/* The scale is input scale / output scale. */
typedef mg_unary_scaled_params mg_abs_s16_params;

MG_INLINE int16_t mg_abs_s16_element(const mg_abs_s16_params *p, int16_t x)
{
    const int32_t magnitude = (x < 0) ? -x : x;
    return mg_clamp_s16(mg_requantize(magnitude, p->multiplier, p->shift), INT16_MIN, INT16_MAX);
}

/* Requantizes the magnitudes of input [size] with double rounding into output [size]. */
MG_EACH_ELEMENT(mg_abs_s16, int16_t, int16_t)

/* -x; the least value remains unchanged. */
MG_INLINE int16_t mg_negative_s16_element(int16_t x)
{
    return (int16_t)((x == INT16_MIN) ? INT16_MIN : -x);
}

MG_UNARY_KERNEL(mg_negative_s16, int16_t, mg_negative_s16_element)

typedef struct {
    int32_t size;             /* elements */
    int32_t multiplier;       /* Q31, input scale / output scale */
    int32_t shift;            /* as microgen/requantization/requantize.h says */
    int32_t alpha_multiplier; /* Q31, alpha * input scale / output scale, of either sign */
    int32_t alpha_shift;
} mg_leaky_relu_s16_params;

MG_INLINE int16_t mg_leaky_relu_s16_element(const mg_leaky_relu_s16_params *p, int16_t x)
{
    const int32_t scaled = (x >= 0) ? mg_requantize(x, p->multiplier, p->shift)
                                    : mg_requantize(x, p->alpha_multiplier, p->alpha_shift);
    return mg_clamp_s16(scaled, INT16_MIN, INT16_MAX);
}

/* Requantizes input [size] into output [size] with double rounding. Values below 0 are also
 * multiplied by alpha, in the same step. Results are saturated. */
MG_EACH_ELEMENT(mg_leaky_relu_s16, int16_t, int16_t)

/* The scale is as mg_sigmoid_argument says. */
typedef mg_unary_scaled_params mg_sigmoid_s16_params;

MG_INLINE int16_t mg_sigmoid_s16_element(const mg_sigmoid_s16_params *p, int16_t x)
{
    const int32_t steps = mg_sigmoid_argument(x, p->multiplier, p->shift);
    const int32_t magnitude = (steps < 0) ? -steps : steps;
    const int32_t upper = mg_sigmoid_interpolated(magnitude, 9, INT16_MAX << 10); /* Q0.25 */
    const int32_t result = (steps >= 0) ? upper : ((int32_t)1 << 25) - upper - 1;
    return (int16_t)mg_shift_right(result + (1 << 9), 10);
}

/* Computes 1 / (1 + exp(-x)) for each value of input [size] into output [size], whose scale is
 * 1/32768. */
MG_EACH_ELEMENT(mg_sigmoid_s16, int16_t, int16_t)

/* The scale is as mg_sigmoid_argument says. */
typedef mg_unary_scaled_params mg_tanh_s16_params;

MG_INLINE int16_t mg_tanh_s16_element(const mg_tanh_s16_params *p, int16_t x)
{
    const int32_t steps = mg_sigmoid_argument(x, p->multiplier, p->shift);
    const int32_t magnitude = (steps < 0) ? -steps : steps;
    const int32_t sigmoid = mg_sigmoid_interpolated(magnitude, 8, UINT16_MAX << 8); /* Q0.24 */
    const int32_t upper = sigmoid - ((int32_t)1 << 23);
    const int32_t result = (steps >= 0) ? upper : -upper - 1;
    return (int16_t)mg_shift_right(result + (1 << 7), 8);
}

/* Computes tanh(x) = 2 sigmoid(2 x) - 1 for each value of input [size] into output [size], whose
 * scale is 1/32768. */
MG_EACH_ELEMENT(mg_tanh_s16, int16_t, int16_t)

/* The square root of int16 values, computed in integers with the roundings of float32. */

/* Scales are float32 numbers, significand * 2^exponent, with significands in [2^23, 2^24). */
typedef struct {
    int32_t size; /* elements */
    int32_t input_significand;
    int32_t input_exponent; /* -149 to 89, so that real values are normal float32 numbers */
    int32_t output_significand;
    int32_t output_exponent; /* -172 to 104 */
} mg_sqrt_s16_params;

/* A positive float32 number. */
typedef struct {
    uint32_t significand; /* [2^23, 2^24] */
    int32_t exponent;
} mg_sqrt_s16_float;

/* The 0 or 1 that rounding to nearest, ties to even, adds to x >> bits. The digits after x are all
 * 0 if `rest` is 0. */
MG_INLINE uint32_t mg_sqrt_s16_carry(uint32_t x, int32_t bits, uint32_t rest)
{
    const uint32_t half = (uint32_t)1 << (bits - 1);
    const uint32_t fraction = x & (2U * half - 1U);
    const uint32_t is_odd = (x >> bits) & 1U;
    return (fraction > half || (fraction == half && (rest | is_odd) != 0U)) ? 1U : 0U;
}

/* The real value of a positive stored value. */
MG_INLINE mg_sqrt_s16_float mg_sqrt_s16_real(const mg_sqrt_s16_params *p, int16_t x)
{
    mg_sqrt_s16_float real = {(uint32_t)x, p->input_exponent};

    while (real.significand < ((uint32_t)1 << 14)) {
        real.significand <<= 1;
        real.exponent--;
    }
    /* in [2^37, 2^39) */
    const uint64_t product = (uint64_t)real.significand * (uint32_t)p->input_significand;
    const int32_t bits = ((product >> 38) != 0U) ? 15 : 14;
    const uint32_t low = (uint32_t)product; /* contains all bits that are rounded away */
    real.significand = (uint32_t)(product >> bits) + mg_sqrt_s16_carry(low, bits, 0);
    real.exponent += bits;
    return real;
}

/* The root of the real value. */
MG_INLINE mg_sqrt_s16_float mg_sqrt_s16_root(mg_sqrt_s16_float real)
{
    if (real.significand == ((uint32_t)1 << 24)) {
        real.significand >>= 1;
        real.exponent++;
    }
    if (real.exponent % 2 == 0) { /* 2^(exponent - 23) must have a root */
        real.significand <<= 1;
        real.exponent--;
    }
    const mg_sqrt_s16_float root = {mg_sqrt_of_significand(real.significand),
                                    (real.exponent - 23) / 2};
    return root;
}

/* The root divided by the output's scale. */
MG_INLINE mg_sqrt_s16_float mg_sqrt_s16_steps(const mg_sqrt_s16_params *p, mg_sqrt_s16_float root)
{
    const uint32_t divisor = (uint32_t)p->output_significand;
    uint32_t remainder = root.significand;
    uint32_t quotient = 0; /* times 2^25: in (2^24, 2^26) */

    for (int32_t bit = 0; bit < 26; bit++) {
        quotient <<= 1;
        if (remainder >= divisor) {
            remainder -= divisor;
            quotient |= 1U;
        }
        remainder <<= 1;
    }
    const int32_t bits = ((quotient >> 25) != 0U) ? 2 : 1;
    const mg_sqrt_s16_float steps = {(quotient >> bits) +
                                         mg_sqrt_s16_carry(quotient, bits, remainder),
                                     root.exponent - p->output_exponent - 25 + bits};
    return steps;
}

MG_INLINE int16_t mg_sqrt_s16_element(const mg_sqrt_s16_params *p, int16_t x)
{
    if (x <= 0) {
        return 0;
    }
    const mg_sqrt_s16_float steps = mg_sqrt_s16_steps(p, mg_sqrt_s16_root(mg_sqrt_s16_real(p, x)));
    if (steps.exponent < -24) {
        return 0;
    }
    const uint32_t whole =
        (steps.exponent > -9) ? INT16_MAX : (steps.significand >> -steps.exponent);
    return (int16_t)((whole > INT16_MAX) ? INT16_MAX : whole);
}

/* Computes the square roots of input [size], truncated, into output [size]. The result for
 * negative values is 0. */
MG_EACH_ELEMENT(mg_sqrt_s16, int16_t, int16_t)

#ifdef MG_UNARY_S16_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_abs_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_negative_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_leaky_relu_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_sigmoid_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_tanh_s16, int16_t, int16_t)
MG_DEFINE_UNARY(mg_sqrt_s16, int16_t, int16_t)
#endif

#endif
