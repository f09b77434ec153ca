/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the scale and zero point of integers, and their type. */
#ifndef MICROGEN_REQUANTIZE_INT_H
#define MICROGEN_REQUANTIZE_INT_H

#include <stddef.h>
#include <string.h>

#include "microgen/requantization/requantize.h"
#include "microgen/requantization/requantize_once.h"
#include "microgen/requantization/stored_int.h"
#include "microgen/unary/unary.h"

typedef struct {
    int32_t size;          /* elements */
    int32_t input_bytes;   /* 1, 2 or 4: int8, int16 or int32 */
    int32_t output_bytes;  /* the same */
    int32_t input_offset;  /* minus the input's zero point: -127 to 128 of int8, -32,767 to 32,768
                              of int16; 0 of int32 */
    int32_t output_offset; /* the output's zero point: -128 to 127; 0 unless it is int8 */
    int32_t multiplier;    /* Q31, input scale / output scale */
    int32_t shift;         /* as microgen/requantization/requantize.h says */
} mg_requantize_int_params;

/* Requantizes input [size] with double rounding and stores it, saturated, in output [size].
 *
 * Output may be the same buffer as an input of the same type; otherwise they must not overlap. */
MG_DECLARE_UNARY(mg_requantize_int, void, void);

/* x + offset modulo 2^32, saturated to the output's type. */
MG_INLINE int32_t mg_requantize_int_stored(int32_t x, int32_t offset, int32_t bytes)
{
    const int32_t high = mg_greatest_int(bytes);
    const int32_t stored = (int32_t)((uint32_t)x + (uint32_t)offset);

    if (stored > high) {
        return high;
    }
    return (stored < -high - 1) ? -high - 1 : stored;
}

MG_INLINE void mg_requantize_int_body(const mg_requantize_int_params *p, const void *input,
                                      void *output)
{
    for (int32_t i = 0; i < p->size; i++) {
        const int32_t centred = mg_load_int(input, i, p->input_bytes) + p->input_offset;
        const int32_t scaled = mg_requantize(centred, p->multiplier, p->shift);
        mg_store_int(output, i, p->output_bytes,
                     mg_requantize_int_stored(scaled, p->output_offset, p->output_bytes));
    }
}

typedef struct {
    int32_t size;          /* elements */
    int32_t input_offset;  /* minus the input's zero point: -127 to 128 */
    int32_t output_offset; /* the output's zero point: -128 to 127 */
    int32_t multiplier;    /* Q31, input scale / output scale */
    int32_t shift;         /* as microgen/requantization/requantize.h says */
} mg_requantize_s8_params;

MG_INLINE int8_t mg_requantize_s8_element(const mg_requantize_s8_params *p, int8_t x)
{
    const int32_t value = mg_requantize(x + p->input_offset, p->multiplier, p->shift);
    return mg_offset_and_clamp(value, p->output_offset, INT8_MIN, INT8_MAX);
}

/* Requantizes input [size] with double rounding and stores it, saturated, in output [size].
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ELEMENT(mg_requantize_s8, int8_t, int8_t)

typedef struct {
    int32_t size;               /* elements */
    int32_t input_is_unsigned;  /* 1: uint8; 0: int8 */
    int32_t output_is_unsigned; /* the same */
    int32_t input_offset;       /* minus the input's zero point: -255 to 128 */
    int32_t output_offset;      /* the output's zero point: -128 to 255 */
    int32_t multiplier;         /* Q31, input scale / output scale */
    int32_t shift;              /* as microgen/requantization/requantize.h says */
} mg_requantize_u8_params;

/* Requantizes input [size] with double rounding and stores it, saturated, in output [size].
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_DECLARE_UNARY(mg_requantize_u8, void, void);

MG_INLINE int32_t mg_requantize_u8_load(const void *values, int32_t index, int32_t is_unsigned)
{
    return (is_unsigned != 0) ? ((const uint8_t *)values)[index] : ((const int8_t *)values)[index];
}

MG_INLINE void mg_requantize_u8_body(const mg_requantize_u8_params *p, const void *input,
                                     void *output)
{
    const int32_t low = (p->output_is_unsigned != 0) ? 0 : INT8_MIN;

    for (int32_t i = 0; i < p->size; i++) {
        const int32_t value = mg_requantize_u8_load(input, i, p->input_is_unsigned);
        const int32_t scaled = mg_requantize(value + p->input_offset, p->multiplier, p->shift);
        ((uint8_t *)output)[i] = (uint8_t)mg_offset_and_clamp_wide(scaled, p->output_offset, low,
                                                                   low + (int32_t)UINT8_MAX);
    }
}

typedef struct {
    int32_t outer;         /* indices before the axis of scales */
    int32_t channels;      /* number of scales; 1: one for all */
    int32_t inner;         /* indices after that axis */
    int32_t input_bytes;   /* 1, 2 or 4: int8, int16 or int32 */
    int32_t output_bytes;  /* the same */
    int32_t input_offset;  /* minus the input's zero point */
    int32_t output_offset; /* the output's zero point */
    int32_t ties;          /* MG_TIES_UPWARD or MG_TIES_AWAY */
    int32_t multiplier;    /* of every channel, as microgen/requantization/requantize.h says */
    int32_t shift;
} mg_rescale_int_params;

/* Relay's qnn.requantize. Requantizes input [outer][channels][inner] with one rounding and stores
 * it, saturated, in output, which has the same shape. Sums with the zero points are taken modulo
 * 2^32. multiplier and shift have `channels` elements, or both are NULL; then the parameters'
 * multiplier and shift apply.
 *
 * Output may be the same buffer as an input of the same element size; otherwise they must not
 * overlap. */
MG_EXTERN void mg_rescale_int(const mg_rescale_int_params *p, const void *input,
                              const int32_t *multiplier, const int8_t *shift, void *output);

/* (x + input_offset) scaled + output_offset, with both sums modulo 2^32. */
MG_INLINE int32_t mg_rescaled(int32_t x, int32_t input_offset, int32_t multiplier, int32_t shift,
                              int32_t ties)
{
    const int32_t centred = (int32_t)((uint32_t)x + (uint32_t)input_offset);
    return mg_requantize_once(centred, multiplier, shift, ties);
}

MG_INLINE void mg_rescale_int_body(const mg_rescale_int_params *p, const void *input,
                                   const int32_t *multiplier, const int8_t *shift, void *output)
{
    int32_t i = 0;

    for (int32_t n = 0; n < p->outer; n++) {
        for (int32_t c = 0; c < p->channels; c++) {
            const int32_t factor = (multiplier != NULL) ? multiplier[c] : p->multiplier;
            const int32_t power = (shift != NULL) ? shift[c] : p->shift;
            for (int32_t k = 0; k < p->inner; k++) {
                const int32_t x = mg_load_int(input, i, p->input_bytes);
                const int32_t scaled = mg_rescaled(x, p->input_offset, factor, power, p->ties);
                mg_store_int(output, i, p->output_bytes,
                             mg_requantize_int_stored(scaled, p->output_offset, p->output_bytes));
                i++;
            }
        }
    }
}

/* Changes uint8 values to int8 values that are 128 less, and back. */
typedef struct {
    int32_t size; /* bytes */
} mg_flip_sign_params;

/* Inverts the highest bit of each byte of input [size] and stores the result in output [size]. With
 * zero points that are 128 apart, the values before and after mean the same numbers.
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_DECLARE_UNARY(mg_flip_sign, void, void);

MG_INLINE void mg_flip_sign_body(const mg_flip_sign_params *p, const void *input, void *output)
{
    const uint8_t *from = (const uint8_t *)input;
    uint8_t *to = (uint8_t *)output;
    const int32_t whole = p->size - p->size % 4;

    for (int32_t i = 0; i < whole; i += 4) {
        uint32_t bytes = 0;
        (void)memcpy(&bytes, &from[i], 4);
        bytes ^= 0x80808080U;
        (void)memcpy(&to[i], &bytes, 4);
    }
    for (int32_t i = whole; i < p->size; i++) {
        to[i] = (uint8_t)(from[i] ^ 0x80U);
    }
}

#ifdef MG_REQUANTIZE_INT_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_requantize_int, void, void)
MG_DEFINE_UNARY(mg_requantize_s8, int8_t, int8_t)
MG_DEFINE_UNARY(mg_requantize_u8, void, void)
MG_OUT_OF_LINE(mg_rescale_int, (p, input, multiplier, shift, output),
               const mg_rescale_int_params *p, const void *input, const int32_t *multiplier,
               const int8_t *shift, void *output)
MG_DEFINE_UNARY(mg_flip_sign, void, void)
#endif

#endif
