/* SPDX-License-Identifier: Apache-2.0 */
/* Relay's qnn.requantize: the scale and zero point of int8, int16 or int32 values, and their type.
 */
#ifndef MICROGEN_RESCALE_INT_H
#define MICROGEN_RESCALE_INT_H

#include <stddef.h>

#include "microgen/quantization/requantize_int.h"
#include "microgen/requantization/requantize_once.h"
#include "microgen/requantization/stored_int.h"

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

/* Requantizes input [outer][channels][inner] with one rounding and stores it, saturated, in output,
 * which has the same shape. Sums with the zero points are taken modulo 2^32. multiplier and shift
 * have `channels` elements, or both are NULL; then the parameters' multiplier and shift apply.
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

#ifdef MG_RESCALE_INT_IMPLEMENTATION /* the out-of-line form */
MG_OUT_OF_LINE(mg_rescale_int, (p, input, multiplier, shift, output),
               const mg_rescale_int_params *p, const void *input, const int32_t *multiplier,
               const int8_t *shift, void *output)
#endif

#endif
