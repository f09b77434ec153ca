/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the elements at regular steps of a tensor of any type: slices, transpositions and
 * broadcasts. */
#ifndef MICROGEN_STRIDED_COPY_H
#define MICROGEN_STRIDED_COPY_H

#include "microgen/element.h"

typedef struct {
    int32_t shape[6];      /* of the output, each at least 1 */
    int32_t stride[6];     /* elements of the input between neighbouring indices of the output */
    int32_t offset;        /* of the output's first element in the input */
    int32_t element_bytes; /* 1, 2, 4 or 8 */
} mg_strided_copy_params;

/* Copies input[offset + i * stride[0] + ... + n * stride[5]] to output element [i]...[n], for all
 * of output [shape[0]]...[shape[5]]. Output must not overlap the input. */
MG_DECLARE_UNARY(mg_strided_copy, void, void);

/* Copies one row, which is the last axis. */
MG_INLINE void mg_strided_copy_row(const mg_strided_copy_params *p, const void *input,
                                   int32_t start, void *output)
{
    if (p->stride[5] == 1) {
        mg_move_bytes(output, mg_element(input, start, p->element_bytes),
                      p->shape[5] * p->element_bytes, p->element_bytes);
    } else {
        mg_move_steps(output, input, start, p->stride[5], p->shape[5], p->element_bytes);
    }
}

MG_INLINE void mg_strided_copy_body(const mg_strided_copy_params *p, const void *input,
                                    void *output)
{
    const int32_t *shape = p->shape;
    const int32_t *stride = p->stride;

    for (int32_t i = 0; i < shape[0]; i++) {
        for (int32_t j = 0; j < shape[1]; j++) {
            for (int32_t k = 0; k < shape[2]; k++) {
                for (int32_t l = 0; l < shape[3]; l++) {
                    const int32_t outer =
                        p->offset + i * stride[0] + j * stride[1] + k * stride[2] + l * stride[3];
                    for (int32_t m = 0; m < shape[4]; m++) {
                        mg_strided_copy_row(p, input, outer + m * stride[4], output);
                        output = mg_element_of(output, shape[5], p->element_bytes);
                    }
                }
            }
        }
    }
}

#ifdef MG_STRIDED_COPY_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_strided_copy, void, void)
#endif

#endif
