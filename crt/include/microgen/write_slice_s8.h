/* Writes one int8 tensor into its part of each row of a larger one: concatenation, one call for
 * each input. */
#ifndef MICROGEN_WRITE_SLICE_S8_H
#define MICROGEN_WRITE_SLICE_S8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t rows;
    int32_t output_row; /* bytes of a row of the output */
    int32_t input_row;  /* bytes of a row of the input */
    int32_t offset;     /* where it goes; offset + input_row is at most output_row */
} mg_write_slice_s8_params;

/* Copies input [rows][input_row] into output [rows][output_row] at `offset` of each row, and
 * leaves the rest of the output as it is. They must not overlap. */
void mg_write_slice_s8(const mg_write_slice_s8_params *p, const int8_t *input, int8_t *output);

MG_INLINE void mg_write_slice_s8_body(const mg_write_slice_s8_params *p, const int8_t *input,
                                      int8_t *output)
{
    for (int32_t row = 0; row < p->rows; row++) {
        (void)memcpy(&output[row * p->output_row + p->offset], &input[row * p->input_row],
                     (size_t)p->input_row);
    }
}

#ifdef __cplusplus
}
#endif

#endif
