/* SPDX-License-Identifier: Apache-2.0 */
/* Constant padding of tensors of any type. */
#ifndef MICROGEN_PAD_H
#define MICROGEN_PAD_H

#include <stddef.h>
#include <string.h>

#include "microgen/element.h"

typedef struct {
    int32_t shape[6];      /* of the input */
    int32_t stride[5];     /* elements of the output between neighbouring indices of the input */
    int32_t offset;        /* of the input's first element in the output */
    int32_t size;          /* elements of the output */
    int32_t element_bytes; /* 1, 2, 4 or 8 */
    int32_t value;         /* of the padding, as an integer of the element's size */
    int32_t value_high;    /* its upper 4 bytes, for elements of 8 bytes */
} mg_pad_params;

/* Fills output [size] with the value, and copies input element [i]...[n] to output[offset +
 * i * stride[0] + ... + m * stride[4] + n]. Output must not overlap the input. */
MG_DECLARE_UNARY(mg_pad, void, void);

/* Stores the value in one element of 2, 4 or 8 bytes. */
MG_INLINE void mg_pad_element(const mg_pad_params *p, void *element)
{
    const int16_t half = (int16_t)p->value;
    const uint64_t whole = (uint64_t)(uint32_t)p->value_high << 32 | (uint32_t)p->value;

    if (p->element_bytes == 2) {
        (void)memcpy(MG_ALIGNED(element, 2), &half, 2);
    } else if (p->element_bytes == 4) {
        (void)memcpy(MG_ALIGNED(element, 4), &p->value, 4);
    } else {
        (void)memcpy(MG_ALIGNED(element, 4), &whole, 8);
    }
}

MG_INLINE void mg_pad_fill(const mg_pad_params *p, void *output)
{
    if (p->element_bytes == 1 || (p->value == 0 && p->value_high == 0)) {
        (void)memset(output, (int)p->value, (size_t)(p->size * p->element_bytes));
        return;
    }
    for (int32_t i = 0; i < p->size; i++) {
        mg_pad_element(p, mg_element_of(output, i, p->element_bytes));
    }
}

MG_INLINE void mg_pad_body(const mg_pad_params *p, const void *input, void *output)
{
    const int32_t *shape = p->shape;
    const int32_t *stride = p->stride;
    const int32_t row_bytes = shape[5] * p->element_bytes;
    const uint8_t *from = (const uint8_t *)input;

    mg_pad_fill(p, output);
    for (int32_t i = 0; i < shape[0]; i++) {
        for (int32_t j = 0; j < shape[1]; j++) {
            for (int32_t k = 0; k < shape[2]; k++) {
                for (int32_t l = 0; l < shape[3]; l++) {
                    const int32_t outer =
                        p->offset + i * stride[0] + j * stride[1] + k * stride[2] + l * stride[3];
                    for (int32_t m = 0; m < shape[4]; m++) {
                        mg_move_bytes(
                            mg_element_of(output, outer + m * stride[4], p->element_bytes), from,
                            row_bytes, p->element_bytes);
                        from += row_bytes;
                    }
                }
            }
        }
    }
}

#ifdef MG_PAD_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_pad, void, void)
#endif

#endif
