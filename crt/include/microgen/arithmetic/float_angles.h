/* SPDX-License-Identifier: Apache-2.0 */
/* Sine, cosine and tangent of float32. What float_math.h says about its functions holds for these,
 * too. */
#ifndef MICROGEN_FLOAT_ANGLES_H
#define MICROGEN_FLOAT_ANGLES_H

#include "microgen/arithmetic/float_math.h"

/* x = quadrants * pi / 2 + rest + tail, with |rest + tail| <= pi / 4 except for rounding errors. */
typedef struct {
    uint32_t quadrants; /* modulo 4 */
    float rest;
    float tail;
} mg_angle;

/* Words of the bits of 2 / pi from 2^31 on, of which the first 32 are 0. */
MG_INLINE uint32_t mg_two_over_pi(int32_t word)
{
    static const uint32_t words[8] = {
        0U,          0xA2F9836EU, 0x4E441529U, 0xFC2757D1U,
        0xF534DDC0U, 0xDB629599U, 0x3C439041U, 0xFE5163ABU,
    };
    return words[word];
}

/* 32 of these bits, from the one at `position` on. */
MG_INLINE uint32_t mg_two_over_pi_from(int32_t position)
{
    const int32_t word = position >> 5;
    const uint64_t both = ((uint64_t)mg_two_over_pi(word) << 32) | mg_two_over_pi(word + 1);
    return (uint32_t)((both << (position & 31)) >> 32);
}

/* The angle of `turn` * 2^-64 quarter turns, 0 < turn <= 2^63. The product with pi / 2 has 32
 * significant bits; the first 24 are the rest, which is thus exact. */
MG_INLINE mg_angle mg_angle_of_turn(uint64_t turn)
{
    const uint32_t half_pi = 0xC90FDAA2U; /* times 2^31 */
    mg_angle angle = {0U, 0.0F, 0.0F};
    int32_t exponent = -24;
    uint64_t product;

    while ((turn >> 63) == 0U && exponent > -88) {
        turn <<= 1;
        exponent--;
    }
    product = (turn >> 32) * half_pi;
    if ((product >> 63) == 0U) {
        product <<= 1;
        exponent--;
    }
    angle.rest = (float)(int32_t)(product >> 40) * mg_power_of_two_f32(exponent + 1);
    angle.tail = (float)(int32_t)((product >> 16) & 0xFFFFFFU) * mg_power_of_two_f32(exponent - 23);
    return angle;
}

/* Reduces a finite x > 2^-3. It multiplies the significand by those bits of 2 / pi that matter:
 * higher ones make multiples of four quadrants, lower ones less than 2^-60 of a quadrant. */
MG_INLINE mg_angle mg_reduce_angle(float x)
{
    const uint32_t bits = mg_bits_of_f32(x);
    const uint32_t significand = (bits & (MG_F32_HIDDEN_BIT - 1U)) | MG_F32_HIDDEN_BIT;
    const int32_t position = (int32_t)(bits >> 23) - MG_F32_EXPONENT_BIAS + 7;
    const uint64_t low = (uint64_t)significand * mg_two_over_pi_from(position + 64);
    const uint64_t middle =
        (uint64_t)significand * mg_two_over_pi_from(position + 32) + (low >> 32);
    const uint32_t high = significand * mg_two_over_pi_from(position) + (uint32_t)(middle >> 32);
    const uint64_t quarters = ((uint64_t)high << 32) | (uint32_t)middle; /* times 2^-62 */
    const uint64_t turn = quarters << 2;
    const uint32_t is_over = (uint32_t)(turn >> 63); /* more than half of a quadrant */
    mg_angle angle = mg_angle_of_turn((is_over != 0U) ? (0U - turn) : turn);

    angle.quadrants = (uint32_t)(quarters >> 62) + is_over;
    if (is_over != 0U) {
        angle.rest = -angle.rest;
        angle.tail = -angle.tail;
    }
    return angle;
}

/* sin(rest + tail) */
MG_INLINE float mg_sin_of_rest(const mg_angle *angle)
{
    const float r = angle->rest;
    const float z = r * r;
    const float p =
        -0.166666672F + z * (0.00833332911F + z * (-0.000198393114F + z * 2.71811246e-06F));
    return r + (r * z * p + angle->tail * (1.0F - 0.5F * z));
}

/* cos(rest + tail) */
MG_INLINE float mg_cos_of_rest(const mg_angle *angle)
{
    const float r = angle->rest;
    const float z = r * r;
    const float half = 0.5F * z;
    const float p = 0.0416666456F + z * (-0.00138873153F + z * 2.44330677e-05F);
    const float main_term = 1.0F - half;
    return main_term + (((1.0F - main_term) - half) + (z * z * p - r * angle->tail));
}

/* The sine of x plus `quadrants` quarter turns; x >= 0. */
MG_INLINE float mg_f32_sin_of_positive(float x, uint32_t quadrants)
{
    const uint32_t bits = mg_bits_of_f32(x);
    mg_angle angle = {0U, x, 0.0F};
    float result;

    if (bits >= MG_F32_INFINITY) {
        return mg_f32_of_bits(MG_F32_NAN);
    }
    if (bits > 0x3F490FDBU) { /* pi / 4 */
        angle = mg_reduce_angle(x);
    }
    quadrants += angle.quadrants;
    result = ((quadrants & 1U) != 0U) ? mg_cos_of_rest(&angle) : mg_sin_of_rest(&angle);
    return ((quadrants & 2U) != 0U) ? -result : result;
}

/* sin(x) within 0.84 ULP. */
MG_INLINE float mg_f32_sin(float x)
{
    const uint32_t sign = mg_bits_of_f32(x) & MG_F32_SIGN;
    const float result = mg_f32_sin_of_positive(mg_f32_abs(x), 0U);
    return mg_f32_of_bits(mg_bits_of_f32(result) ^ sign);
}

/* cos(x) within 0.84 ULP. */
MG_INLINE float mg_f32_cos(float x)
{
    return mg_f32_sin_of_positive(mg_f32_abs(x), 1U);
}

/* tan(x) within 2.30 ULP. */
MG_INLINE float mg_f32_tan(float x)
{
    const uint32_t sign = mg_bits_of_f32(x) & MG_F32_SIGN;
    mg_angle angle = {0U, mg_f32_abs(x), 0.0F};

    if (mg_bits_of_f32(angle.rest) >= MG_F32_INFINITY) {
        return mg_f32_of_bits(MG_F32_NAN);
    }
    if (mg_bits_of_f32(angle.rest) > 0x3F490FDBU) { /* pi / 4 */
        angle = mg_reduce_angle(angle.rest);
    }
    const float sine = mg_sin_of_rest(&angle);
    const float cosine = mg_cos_of_rest(&angle);
    const float result = ((angle.quadrants & 1U) != 0U) ? -cosine / sine : sine / cosine;
    return mg_f32_of_bits(mg_bits_of_f32(result) ^ sign);
}

#endif
