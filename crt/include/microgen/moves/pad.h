/* SPDX-License-Identifier: Apache-2.0 */
/* Padding of tensors of any type: constant and mirrored. */
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

/* Calls move(to, from, bytes, element_bytes) for each row of the input. This is a macro so that
 * `move` is inlined at every optimisation level. */
#define MG_PAD_ROWS(move, p, input, output)                                                        \
    do {                                                                                           \
        const int32_t *shape_ = (p)->shape;                                                        \
        const int32_t *stride_ = (p)->stride;                                                      \
        const int32_t row_bytes_ = shape_[5] * (p)->element_bytes;                                 \
        const uint8_t *from_ = (const uint8_t *)(input);                                           \
        for (int32_t i_ = 0; i_ < shape_[0]; i_++) {                                               \
            for (int32_t j_ = 0; j_ < shape_[1]; j_++) {                                           \
                for (int32_t k_ = 0; k_ < shape_[2]; k_++) {                                       \
                    for (int32_t l_ = 0; l_ < shape_[3]; l_++) {                                   \
                        const int32_t outer_ = (p)->offset + i_ * stride_[0] + j_ * stride_[1] +   \
                                               k_ * stride_[2] + l_ * stride_[3];                  \
                        for (int32_t m_ = 0; m_ < shape_[4]; m_++) {                               \
                            move(mg_element_of((output), outer_ + m_ * stride_[4],                 \
                                               (p)->element_bytes),                                \
                                 from_, row_bytes_, (p)->element_bytes);                           \
                            from_ += row_bytes_;                                                   \
                        }                                                                          \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

MG_INLINE void mg_pad_body(const mg_pad_params *p, const void *input, void *output)
{
    mg_pad_fill(p, output);
    MG_PAD_ROWS(mg_move_bytes, p, input, output);
}

typedef struct {
    int32_t input_shape[6];
    int32_t before[6];       /* blocks of padding before the input on each axis */
    int32_t output_shape[6]; /* at least before + input_shape on each axis */
    int32_t block;           /* elements of the axes after the padded ones, copied together */
    int32_t edge;            /* 1: the block at the edge is repeated; 0: it is not */
    int32_t element_bytes;   /* 1, 2, 4 or 8 */
} mg_mirror_pad_params;

/* Copies input [input_shape][block] into output [output_shape][block] at `before`, and fills the
 * rest with mirrored copies. Each side of an axis may have at most input_shape + edge - 1 blocks of
 * padding. Output must not overlap the input. */
MG_DECLARE_UNARY(mg_mirror_pad, void, void);

/* The input's index on an axis for the output's `index`. */
MG_INLINE int32_t mg_mirror_pad_source(const mg_mirror_pad_params *p, int32_t axis, int32_t index)
{
    const int32_t place = index - p->before[axis];
    const int32_t last = p->input_shape[axis] - 1;

    if (place < 0) {
        return -place - p->edge;
    }
    return (place > last) ? last - (place - last) + p->edge : place;
}

/* Copies and mirrors a row of the input into a row of the output, for blocks of one element. */
MG_INLINE void mg_mirror_pad_elements(const mg_mirror_pad_params *p, const void *input,
                                      int32_t start, void *output)
{
    const int32_t size = p->input_shape[5];
    const int32_t before = p->before[5];
    const int32_t after = p->output_shape[5] - size - before;

    mg_move_steps(output, input, start + before - p->edge, -1, before, p->element_bytes);
    mg_move_bytes(mg_element_of(output, before, p->element_bytes),
                  mg_element(input, start, p->element_bytes), size * p->element_bytes,
                  p->element_bytes);
    mg_move_steps(mg_element_of(output, before + size, p->element_bytes), input,
                  start + size - 2 + p->edge, -1, after, p->element_bytes);
}

/* The same for larger blocks. */
MG_INLINE void mg_mirror_pad_blocks(const mg_mirror_pad_params *p, const void *input, int32_t start,
                                    void *output)
{
    const int32_t bytes = p->block * p->element_bytes;

    for (int32_t n = 0; n < p->output_shape[5]; n++) {
        const int32_t from = start + mg_mirror_pad_source(p, 5, n);
        mg_move_bytes(mg_element_of(output, n, bytes), mg_element(input, from, bytes), bytes,
                      p->element_bytes);
    }
}

/* Copies and mirrors one row. `start` is in blocks. */
MG_INLINE void mg_mirror_pad_row(const mg_mirror_pad_params *p, const void *input, int32_t start,
                                 void *output)
{
    if (p->block == 1) {
        mg_mirror_pad_elements(p, input, start, output);
    } else {
        mg_mirror_pad_blocks(p, input, start, output);
    }
}

/* The combined input index of the axes up to `axis`, where `outer` is that of the axes before
 * it. */
MG_INLINE int32_t mg_mirror_pad_step(const mg_mirror_pad_params *p, int32_t outer, int32_t axis,
                                     int32_t index)
{
    return outer * p->input_shape[axis] + mg_mirror_pad_source(p, axis, index);
}

MG_INLINE void mg_mirror_pad_body(const mg_mirror_pad_params *p, const void *input, void *output)
{
    const int32_t *shape = p->output_shape;

    for (int32_t i = 0; i < shape[0]; i++) {
        const int32_t from_i = mg_mirror_pad_source(p, 0, i);
        for (int32_t j = 0; j < shape[1]; j++) {
            const int32_t from_j = mg_mirror_pad_step(p, from_i, 1, j);
            for (int32_t k = 0; k < shape[2]; k++) {
                const int32_t from_k = mg_mirror_pad_step(p, from_j, 2, k);
                for (int32_t l = 0; l < shape[3]; l++) {
                    const int32_t from_l = mg_mirror_pad_step(p, from_k, 3, l);
                    for (int32_t m = 0; m < shape[4]; m++) {
                        const int32_t from_m = mg_mirror_pad_step(p, from_l, 4, m);
                        mg_mirror_pad_row(p, input, from_m * p->input_shape[5], output);
                        output = mg_element_of(output, shape[5] * p->block, p->element_bytes);
                    }
                }
            }
        }
    }
}

#ifdef MG_PAD_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_pad, void, void)
MG_DEFINE_UNARY(mg_mirror_pad, void, void)
#endif

#endif
