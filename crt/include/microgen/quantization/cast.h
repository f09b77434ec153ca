/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of numbers from one type to another. */
#ifndef MICROGEN_CAST_H
#define MICROGEN_CAST_H

#include "microgen/requantization/stored_int.h"

typedef struct {
    int32_t size;            /* elements */
    int32_t input_bytes;     /* of an element: 1, 2, 4 or 8 */
    int32_t input_is_float;  /* 1: float32; 0: bool, or a signed integer */
    int32_t output_bytes;    /* of an element: 1, 2, 4 or 8 */
    int32_t output_is_float; /* 1: float32 */
    int32_t output_is_bool;  /* 1: bool, a byte that is 0 or 1 */
} mg_cast_params;

/* Converts input [size] to output [size]. An integer that does not fit loses its upper bits. A
 * float becomes an integer by truncation towards zero and saturation; NaN becomes the greatest
 * integer. An integer becomes the nearest float, ties to even. A bool is 1 if the number is not 0.
 *
 * Output may be the same buffer as an input of the same number of bytes; otherwise they must not
 * overlap. */
MG_DECLARE_UNARY(mg_cast, void, void);

/* The two conversions of int64 avoid the compiler's helpers, because these compute in double. */

MG_INLINE float mg_cast_int64_to_float(int64_t x)
{
    uint64_t magnitude = (x < 0) ? 0U - (uint64_t)x : (uint64_t)x;
    float unit = 1.0F;

    while (magnitude > INT32_MAX) {
        /* The last bit records whether a 1 was shifted out, so that the float is rounded only
         * once. */
        magnitude = (magnitude >> 1) | (magnitude & 1U);
        unit *= 2.0F;
    }
    return (float)(int32_t)magnitude * ((x < 0) ? -unit : unit);
}

MG_INLINE int64_t mg_cast_float_to_int64(float x)
{
    const float word = 4294967296.0F; /* 2^32 */
    const float limit = 9223372036854775808.0F;
    int32_t high;
    float rest;

    if (!(x < limit)) {
        return INT64_MAX;
    }
    if (x < -limit) {
        return INT64_MIN;
    }
    high = (int32_t)(x / word);
    rest = x - (float)high * word; /* exact, with the sign of x */
    return (int64_t)high * 4294967296 +
           ((rest < 0.0F) ? -(int64_t)(uint32_t)-rest : (int64_t)(uint32_t)rest);
}

MG_INLINE int32_t mg_cast_float_to_int(float x, int32_t bytes)
{
    const int32_t high = mg_greatest_int(bytes);
    const float limit = (float)(high / 2 + 1) * 2.0F; /* high + 1, exactly */

    if (!(x < limit)) {
        return high;
    }
    return (x < -limit) ? -high - 1 : (int32_t)x;
}

MG_INLINE void mg_cast_float(const mg_cast_params *p, float x, void *output, int32_t i)
{
    if (p->output_is_float != 0) {
        ((float *)output)[i] = x;
    } else if (p->output_is_bool != 0) {
        ((uint8_t *)output)[i] = (uint8_t)(x != 0.0F);
    } else if (p->output_bytes == 8) {
        ((int64_t *)output)[i] = mg_cast_float_to_int64(x);
    } else {
        mg_store_int(output, i, p->output_bytes, mg_cast_float_to_int(x, p->output_bytes));
    }
}

MG_INLINE void mg_cast_int64(const mg_cast_params *p, int64_t x, void *output, int32_t i)
{
    if (p->output_is_float != 0) {
        ((float *)output)[i] = mg_cast_int64_to_float(x);
    } else if (p->output_is_bool != 0) {
        ((uint8_t *)output)[i] = (uint8_t)(x != 0);
    } else if (p->output_bytes == 8) {
        ((int64_t *)output)[i] = x;
    } else {
        mg_store_int(output, i, p->output_bytes, (int32_t)(uint32_t)(uint64_t)x);
    }
}

MG_INLINE void mg_cast_int(const mg_cast_params *p, int32_t x, void *output, int32_t i)
{
    if (p->output_is_float != 0) {
        ((float *)output)[i] = (float)x;
    } else if (p->output_is_bool != 0) {
        ((uint8_t *)output)[i] = (uint8_t)(x != 0);
    } else if (p->output_bytes == 8) {
        ((int64_t *)output)[i] = x;
    } else {
        mg_store_int(output, i, p->output_bytes, x);
    }
}

MG_INLINE void mg_cast_body(const mg_cast_params *p, const void *input, void *output)
{
    for (int32_t i = 0; i < p->size; i++) {
        if (p->input_is_float != 0) {
            mg_cast_float(p, ((const float *)input)[i], output, i);
        } else if (p->input_bytes == 8) {
            mg_cast_int64(p, ((const int64_t *)input)[i], output, i);
        } else {
            mg_cast_int(p, mg_load_int(input, i, p->input_bytes), output, i);
        }
    }
}

typedef struct {
    mg_cast_params cast;
    int32_t input_is_unsigned; /* 1: the input is uint8; 0: the output is */
} mg_cast_u8_params;

/* Converts input [size] to output [size] as mg_cast does, with uint8 on one side or both: an
 * integer that does not fit loses its upper bits, and a float is truncated and saturated; NaN
 * becomes 255.
 *
 * Output may be the same buffer as an input of the same number of bytes; otherwise they must not
 * overlap. */
MG_DECLARE_UNARY(mg_cast_u8, void, void);

MG_INLINE uint8_t mg_cast_u8_of_float(float x)
{
    if (!(x < 256.0F)) {
        return UINT8_MAX;
    }
    return (x < 0.0F) ? 0U : (uint8_t)(int32_t)x;
}

/* Converts an element that is not uint8. */
MG_INLINE void mg_cast_u8_to(const mg_cast_params *p, const void *input, void *output, int32_t i)
{
    uint8_t *to = (uint8_t *)output;

    if (p->input_is_float != 0) {
        to[i] = mg_cast_u8_of_float(((const float *)input)[i]);
    } else if (p->input_bytes == 8) {
        to[i] = (uint8_t)((const int64_t *)input)[i];
    } else {
        to[i] = (uint8_t)mg_load_int(input, i, p->input_bytes);
    }
}

MG_INLINE void mg_cast_u8_body(const mg_cast_u8_params *p, const void *input, void *output)
{
    for (int32_t i = 0; i < p->cast.size; i++) {
        if (p->input_is_unsigned == 0) {
            mg_cast_u8_to(&p->cast, input, output, i);
        } else {
            mg_cast_int(&p->cast, ((const uint8_t *)input)[i], output, i);
        }
    }
}

typedef struct {
    mg_cast_params cast;
    int32_t input_is_unsigned; /* 1: the input is a bool or an unsigned integer */
} mg_cast_unsigned_params;

/* Converts input [size] to output [size] as mg_cast does: an integer that does not fit loses its
 * upper bits, and a float is truncated and saturated; NaN becomes the greatest integer.
 *
 * Output may be the same buffer as an input of the same number of bytes; otherwise they must not
 * overlap. */
MG_DECLARE_UNARY(mg_cast_unsigned, void, void);

/* x truncated and saturated to an unsigned integer of that size. */
MG_INLINE uint64_t mg_cast_float_to_unsigned(float x, int32_t bytes)
{
    const float word = 4294967296.0F; /* 2^32 */
    const float beyond = (bytes == 8) ? word * word : ((bytes == 4) ? word : 65536.0F);
    uint32_t high = 0U;

    if (!(x < ((bytes == 1) ? 256.0F : beyond))) {
        return UINT64_MAX;
    }
    if (x < 1.0F) {
        return 0U;
    }
    if (x >= word) { /* not for the compiler's helper, which computes in double */
        high = (uint32_t)(x / word);
        x -= (float)high * word;
    }
    return ((uint64_t)high << 32) | (uint32_t)x;
}

/* The nearest float, ties to even. */
MG_INLINE float mg_cast_unsigned_to_float(uint64_t x)
{
    /* The last bit records whether a 1 was shifted out, so the float is rounded only once. */
    return (x > (uint64_t)INT64_MAX) ? 2.0F * mg_cast_int64_to_float((int64_t)((x >> 1) | (x & 1U)))
                                     : mg_cast_int64_to_float((int64_t)x);
}

/* An integer without a sign, or one with a sign modulo 2^64. */
MG_INLINE uint64_t mg_load_integer(const mg_cast_unsigned_params *p, const void *input, int32_t i)
{
    const int32_t bytes = p->cast.input_bytes;

    if (bytes == 8) {
        return ((const uint64_t *)input)[i];
    }
    if (p->input_is_unsigned == 0) {
        return (uint64_t)(int64_t)mg_load_int(input, i, bytes);
    }
    if (bytes == 4) {
        return ((const uint32_t *)input)[i];
    }
    return (bytes == 2) ? ((const uint16_t *)input)[i] : ((const uint8_t *)input)[i];
}

MG_INLINE void mg_store_integer(const mg_cast_params *p, uint64_t x, void *output, int32_t i)
{
    if (p->output_is_bool != 0) {
        ((uint8_t *)output)[i] = (uint8_t)(x != 0U);
    } else if (p->output_bytes == 8) {
        ((uint64_t *)output)[i] = x;
    } else {
        mg_store_int(output, i, p->output_bytes, (int32_t)(uint32_t)x);
    }
}

MG_INLINE void mg_cast_unsigned_body(const mg_cast_unsigned_params *p, const void *input,
                                     void *output)
{
    for (int32_t i = 0; i < p->cast.size; i++) {
        if (p->cast.input_is_float != 0) {
            const float x = ((const float *)input)[i];
            mg_store_integer(&p->cast, mg_cast_float_to_unsigned(x, p->cast.output_bytes), output,
                             i);
        } else if (p->cast.output_is_float != 0) {
            ((float *)output)[i] = mg_cast_unsigned_to_float(mg_load_integer(p, input, i));
        } else {
            mg_store_integer(&p->cast, mg_load_integer(p, input, i), output, i);
        }
    }
}

#ifdef MG_CAST_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_cast, void, void)
MG_DEFINE_UNARY(mg_cast_u8, void, void)
MG_DEFINE_UNARY(mg_cast_unsigned, void, void)
#endif

#endif
