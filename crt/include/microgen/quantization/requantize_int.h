/* SPDX-License-Identifier: Apache-2.0 */
/* Changes the scale and zero point of int8, int16 or int32 values, and their type. */
#ifndef MICROGEN_REQUANTIZE_INT_H
#define MICROGEN_REQUANTIZE_INT_H

#include "microgen/requantization/requantize.h"
#include "microgen/requantization/stored_int.h"

typedef struct {
    int32_t size;          /* elements */
    int32_t input_bytes;   /* 1, 2 or 4: int8, int16 or int32 */
    int32_t output_bytes;  /* the same */
    int32_t input_offset;  /* minus the input's zero point: -127 to 128; 0 unless it is int8 */
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

#ifdef MG_REQUANTIZE_INT_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_requantize_int, void, void)
#endif

#endif
