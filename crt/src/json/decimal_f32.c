/* SPDX-License-Identifier: Apache-2.0 */
#include "json/decimal_f32.h"

#include "microgen/arithmetic/float_math.h"

/* With exponents of ten outside of these, 19 digits are zero or infinity as a float. */
#define MAX_EXPONENT 40
#define MIN_EXPONENT (-70)

/* mantissa * 10^exponent, then mantissa * 2^exponent */
typedef struct {
    uint64_t mantissa;
    int32_t exponent;
} scaled;

static bool next_is(const mg_text *rest, char c)
{
    return rest->length > 0U && *rest->at == c;
}

static void advance(mg_text *rest)
{
    rest->at++;
    rest->length--;
}

static bool take(mg_text *rest, char c)
{
    if (!next_is(rest, c)) {
        return false;
    }
    advance(rest);
    return true;
}

/* Reads an optional sign. Returns whether it is a minus. */
static bool take_sign(mg_text *rest)
{
    return !take(rest, '+') && take(rest, '-');
}

/* Reads digits, each of which lowers the exponent by `place`. Returns their number. */
static uint32_t take_digits(mg_text *rest, scaled *number, int32_t place)
{
    const uint32_t before = rest->length;

    while (rest->length > 0U && *rest->at >= '0' && *rest->at <= '9') {
        if (number->mantissa <= (UINT64_MAX - 9U) / 10U) {
            number->mantissa = number->mantissa * 10U + (uint64_t)(*rest->at - '0');
            number->exponent -= place;
        } else {
            number->exponent += 1 - place;
        }
        advance(rest);
    }
    return before - rest->length;
}

/* Reads an optional exponent such as "e-05". Returns false if it is malformed. */
static bool take_exponent(mg_text *rest, scaled *number)
{
    scaled power = {0U, 0};
    bool is_negative;

    if (!take(rest, 'e') && !take(rest, 'E')) {
        return true;
    }
    is_negative = take_sign(rest);
    if (take_digits(rest, &power, 0) == 0U || power.mantissa > 10000U) {
        return false;
    }
    number->exponent += is_negative ? -(int32_t)power.mantissa : (int32_t)power.mantissa;
    return true;
}

static bool take_number(mg_text *rest, scaled *number)
{
    uint32_t digits = take_digits(rest, number, 0);

    if (take(rest, '.')) {
        digits += take_digits(rest, number, 1);
    }
    return digits > 0U && take_exponent(rest, number) && rest->length == 0U;
}

/* x / 10, with divisions of 32 bits only. */
static uint64_t tenth(uint64_t x)
{
    const uint32_t high = (uint32_t)(x >> 32);
    const uint32_t middle = (high % 10U) << 16 | (uint32_t)(x >> 16 & 0xFFFFU);
    const uint32_t low = (middle % 10U) << 16 | (uint32_t)(x & 0xFFFFU);

    return (uint64_t)(high / 10U) << 32 | (uint64_t)(middle / 10U) << 16 | (uint64_t)(low / 10U);
}

/* Shifts a mantissa that is not 0 until its top bit is set. */
static void normalise(scaled *number)
{
    while (number->mantissa >> 63 == 0U) {
        number->mantissa <<= 1;
        number->exponent--;
    }
}

/* Converts from a power of ten to a power of two. Each step loses less than 2^-60 of the value. */
static scaled binary(scaled decimal)
{
    scaled number = {decimal.mantissa, 0};
    int32_t left = decimal.exponent;

    normalise(&number);
    for (; left > 0; left--) {
        number.mantissa = (number.mantissa >> 4) * 10U;
        number.exponent += 4;
        normalise(&number);
    }
    for (; left < 0; left++) {
        number.mantissa = tenth(number.mantissa);
        normalise(&number);
    }
    return number;
}

/* The bits of the nearest float, ties to even. They are those of infinity or greater if the number
 * is too large. */
static uint32_t rounded(scaled number)
{
    const int32_t field = number.exponent + 63 + MG_F32_EXPONENT_BIAS;
    const int32_t shift = field > 0 ? 39 : 40 - field; /* denormals have fewer bits */
    /* makes room for a bit of half the least float, and keeps a record of the bit shifted out */
    const uint64_t mantissa = number.mantissa >> 1 | (number.mantissa & 1U);
    uint64_t half;
    uint64_t rest;
    uint32_t bits;

    if (field >= 255) {
        return MG_F32_INFINITY;
    }
    if (shift > 63) {
        return 0U;
    }
    half = (uint64_t)1 << (shift - 1);
    rest = mantissa & (half * 2U - 1U);
    bits = (uint32_t)(mantissa >> shift);
    bits += (rest > half || (rest == half && (bits & 1U) != 0U)) ? 1U : 0U;
    /* the hidden bit adds 1 to the exponent's field */
    return bits + (field > 0 ? (uint32_t)(field - 1) << 23 : 0U);
}

static uint32_t magnitude(scaled number)
{
    if (number.mantissa == 0U || number.exponent < MIN_EXPONENT) {
        return 0U;
    }
    return number.exponent > MAX_EXPONENT ? MG_F32_INFINITY : rounded(binary(number));
}

bool mg_decimal_float(const mg_text *text, float *value)
{
    mg_text rest = *text;
    scaled number = {0U, 0};
    const uint32_t sign = take_sign(&rest) ? MG_F32_SIGN : 0U;
    uint32_t bits = MG_F32_INFINITY;

    if (!MG_TEXT_IS(&rest, "inf")) {
        if (!take_number(&rest, &number)) {
            return false;
        }
        bits = magnitude(number);
        if (bits >= MG_F32_INFINITY) {
            return false;
        }
    }
    *value = mg_f32_of_bits(sign | bits);
    return true;
}
