/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one tensor of any type into its part of each row of a larger one. Concatenation is one
 * call for each input. */
#ifndef MICROGEN_WRITE_SLICE_H
#define MICROGEN_WRITE_SLICE_H

#include "microgen/element.h"

typedef struct {
    int32_t rows;
    int32_t output_row;    /* bytes of a row of the output */
    int32_t element_bytes; /* 1, 2, 4 or 8 */
    int32_t input_row;     /* bytes of a row of the input */
    int32_t offset; /* in bytes, in the output's row; offset + input_row is at most output_row */
} mg_write_slice_params;

/* Copies input [rows][input_row] into output [rows][output_row] at `offset` of each row, and leaves
 * the rest of the output unchanged. They must not overlap, except that with an offset of 0 the
 * output may begin (rows - 1) * (output_row - input_row) + input_row bytes before the input, or
 * more: then each row is read before it is overwritten. */
MG_DECLARE_UNARY(mg_write_slice, void, void);

MG_INLINE void mg_write_slice_body(const mg_write_slice_params *p, const void *input, void *output)
{
    for (int32_t row = 0; row < p->rows; row++) {
        mg_move_bytes((uint8_t *)output + row * p->output_row + p->offset,
                      (const uint8_t *)input + row * p->input_row, p->input_row, p->element_bytes);
    }
}

#ifdef MG_WRITE_SLICE_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_write_slice, void, void)
#endif

#endif
