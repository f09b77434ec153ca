/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of numbers from or to uint8. */
#ifndef MICROGEN_CAST_U8_H
#define MICROGEN_CAST_U8_H

#include "microgen/quantization/cast.h"
#include "microgen/requantization/stored_int.h"

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

#ifdef MG_CAST_U8_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_cast_u8, void, void)
#endif

#endif
