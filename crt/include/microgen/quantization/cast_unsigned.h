/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of numbers from or to uint16, uint32 or uint64. */
#ifndef MICROGEN_CAST_UNSIGNED_H
#define MICROGEN_CAST_UNSIGNED_H

#include "microgen/quantization/cast.h"

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

#ifdef MG_CAST_UNSIGNED_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_cast_unsigned, void, void)
#endif

#endif
