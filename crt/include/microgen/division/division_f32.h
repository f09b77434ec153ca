/* SPDX-License-Identifier: Apache-2.0 */
/* Quotients of float32 numbers, rounded down, and remainders, with broadcasting. */
#ifndef MICROGEN_DIVISION_F32_H
#define MICROGEN_DIVISION_F32_H

#include "microgen/arithmetic/floor_division.h"
#include "microgen/elementwise/broadcast.h"

#ifdef MG_DIVISION_F32_IMPLEMENTATION /* with the out-of-line forms */
#define MG_DIVISION_F32_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_DIVISION_F32_EACH MG_ELEMENTWISE
#endif

/* The greatest integer that is not above the magnitudes' quotient, or the least that is not below
 * it, rounded to float. Quotients of 2^49 and more are never so close to a tie that the next
 * integer rounds to another float. */
MG_INLINE float mg_f32_whole_quotient(uint32_t x_bits, uint32_t y_bits, uint32_t is_up)
{
    const mg_long_division found = mg_divide_f32_exactly(x_bits, y_bits);
    uint64_t quotient = found.quotient;
    int32_t dropped = found.dropped;

    if (dropped == 0 && found.remainder != 0U) {
        quotient += is_up;
    }
    while (quotient >> 31 != 0U) { /* the last bit is sticky, so the float is rounded once */
        quotient = (quotient >> 1) | (quotient & 1U);
        dropped++;
    }
    return mg_scaled_f32((uint32_t)quotient, dropped);
}

/* The greatest integer that is not above lhs / rhs, rounded to float; rhs != 0. */
MG_INLINE float mg_f32_floor_divide(float lhs, float rhs)
{
    const uint32_t x_bits = mg_magnitude_of_f32(lhs);
    const uint32_t y_bits = mg_magnitude_of_f32(rhs);
    const uint32_t is_negative = (mg_bits_of_f32(lhs) ^ mg_bits_of_f32(rhs)) >> 31;

    if (x_bits == 0U || x_bits >= MG_F32_INFINITY || y_bits >= MG_F32_INFINITY) {
        return mg_f32_floor(lhs / rhs);
    }
    if (x_bits < y_bits) {
        return (is_negative != 0U) ? -1.0F : 0.0F;
    }
    const float quotient = mg_f32_whole_quotient(x_bits, y_bits, is_negative);
    return (is_negative != 0U) ? -quotient : quotient;
}

MG_FLOOR_DIVISION(mg_floor_divide_f32, float, mg_f32_floor_divide)

/* The remainder of the quotient rounded down, which has the sign of rhs. NaN for rhs = 0. */
MG_INLINE float mg_f32_floor_mod(float lhs, float rhs)
{
    const float remainder = mg_f32_remainder(lhs, rhs);
    if (remainder != 0.0F && ((rhs < 0.0F) != (remainder < 0.0F))) {
        return remainder + rhs;
    }
    return remainder;
}

MG_DIVISION_F32_EACH(mg_floor_mod_f32, mg_broadcast_params, float, float,
                     mg_f32_floor_mod(lhs, rhs))

/* The remainder has the sign of lhs; it is NaN for rhs = 0. */
MG_DIVISION_F32_EACH(mg_fmod_f32, mg_broadcast_params, float, float, mg_f32_remainder(lhs, rhs))

#ifdef MG_DIVISION_F32_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE_STATUS(mg_floor_divide_f32, (p, lhs, rhs, output),
                      const mg_floor_divide_f32_params *p, const float *lhs, const float *rhs,
                      float *output)
#endif

#endif
