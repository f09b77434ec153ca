/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of tensors of any type, and of parts of them. */
#ifndef MICROGEN_COPIES_H
#define MICROGEN_COPIES_H

#include <stddef.h>
#include <string.h>

#include "microgen/blocks/mve.h"
#include "microgen/element.h"

typedef struct {
    int32_t size; /* bytes */
} mg_copy_params;

/* Copies input [size] to output [size]. They must not overlap. */
MG_DECLARE_UNARY(mg_copy, void, void);

MG_INLINE void mg_copy_body(const mg_copy_params *p, const void *input, void *output)
{
    (void)memcpy(output, input, (size_t)p->size);
}

typedef struct {
    int32_t shape[6];      /* of the output, each at least 1 */
    int32_t stride[6];     /* elements of the input between neighbouring indices of the output */
    int32_t offset;        /* of the output's first element in the input */
    int32_t element_bytes; /* 1, 2, 4 or 8 */
} mg_strided_copy_params;

/* For slices, transpositions and broadcasts: copies input[offset + i * stride[0] + ... + n *
 * stride[5]] to output element [i]...[n], for all of output [shape[0]]...[shape[5]]. Output must
 * not overlap the input. */
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

/* Writes one tensor of any type into its part of each row of a larger one. Concatenation is one
 * call for each input. */
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

/* Copies four bytes from any address to any other. */
MG_INLINE void mg_copy_word(uint8_t *to, const uint8_t *from)
{
    uint32_t word;
    (void)memcpy(&word, from, sizeof(word));
    (void)memcpy(to, &word, sizeof(word));
}

/* Copies a row. Rows are short, so a call of memcpy takes longer than the copy: its small form
 * copies single bytes. Instead words at any address are copied here, or sixteen bytes at a time. */
MG_INLINE void mg_write_slice_row(uint8_t *to, const uint8_t *from, int32_t bytes,
                                  int32_t element_bytes)
{
#if defined(__ARM_FEATURE_MVE)
    (void)element_bytes;
    (void)mg_mve_copy((int8_t *)to, (const int8_t *)from, bytes);
#elif defined(__ARM_FEATURE_UNALIGNED)
    (void)element_bytes;
    if (MG_IS_KNOWN(bytes) && bytes <= 64) {
        (void)memcpy(to, from, (size_t)bytes); /* compilers make it loads and stores of words */
        return;
    }
    const uint8_t *end = to + (bytes & ~15);
    for (; to != end; to += 16, from += 16) {
        mg_copy_word(to, from);
        mg_copy_word(to + 4, from + 4);
        mg_copy_word(to + 8, from + 8);
        mg_copy_word(to + 12, from + 12);
    }
    end = to + (bytes & 12);
    for (; to != end; to += 4, from += 4) {
        mg_copy_word(to, from);
    }
    end = to + (bytes & 3);
    for (; to != end; to++, from++) {
        *to = *from;
    }
#else
    mg_move_bytes(to, from, bytes, element_bytes);
#endif
}

MG_INLINE void mg_write_slice_body(const mg_write_slice_params *p, const void *input, void *output)
{
    uint8_t *to = (uint8_t *)output + p->offset;
    const uint8_t *from = (const uint8_t *)input;

#if defined(__ARM_FEATURE_MVE)
    if (p->input_row <= 16) { /* one vector, and one predicate for all rows */
        uint32_t kept;        /* compilers do not know that P0 changes */
        __asm__ volatile("vmrs %[kept], p0\n\t"
                         "vctp.8 %[bytes]\n\t"
                         "wls lr, %[rows], 2f\n"
                         "1:\n\t"
                         "vpstt\n\t"
                         "vldrbt.u8 q0, [%[from]]\n\t"
                         "vstrbt.8 q0, [%[to]]\n\t"
                         "add %[from], %[from], %[bytes]\n\t"
                         "add %[to], %[to], %[step]\n\t"
                         "le lr, 1b\n"
                         "2:\n\t"
                         "vmsr p0, %[kept]"
                         : [to] "+r"(to), [from] "+r"(from), [kept] "=&r"(kept)
                         : [bytes] "r"(p->input_row), [rows] "r"(p->rows), [step] "r"(p->output_row)
                         : "lr", "q0", "memory");
        return;
    }
#endif
    for (int32_t row = 0; row < p->rows; row++) {
        mg_write_slice_row(to, from, p->input_row, p->element_bytes);
        to += p->output_row;
        from += p->input_row;
    }
}

/* Moves a window on by some rows: drops the oldest and appends the new ones. */
typedef struct {
    int32_t kept_size; /* bytes of the rows that remain */
    int32_t new_size;  /* bytes of the new rows, as many as are dropped */
} mg_slide_params;

/* Writes the last kept_size bytes of window [kept_size + new_size] to the start of output, which
 * has the same size, followed by rows [new_size]. The output may be the window; no other two of
 * them may overlap. */
MG_EXTERN void mg_slide(const mg_slide_params *p, const void *window, const void *rows,
                        void *output);

/* Copies `bytes` from `from` to `to`, which may overlap if `to` is the lower address. Each word is
 * read before it is written, and later ones are at higher addresses. */
MG_INLINE void mg_move_down(void *to, const void *from, int32_t bytes)
{
    uint8_t *t = (uint8_t *)to;
    const uint8_t *f = (const uint8_t *)from;
    int32_t n = 0;

    if ((((uintptr_t)to | (uintptr_t)from) & 3U) == 0U) {
        for (; n + 4 <= bytes; n += 4) {
            uint32_t word;
            (void)memcpy(&word, MG_ALIGNED(f + n, 4), 4);
            (void)memcpy(MG_ALIGNED(t + n, 4), &word, 4);
        }
    }
    for (; n < bytes; n++) {
        t[n] = f[n];
    }
}

MG_INLINE void mg_slide_body(const mg_slide_params *p, const void *window, const void *rows,
                             void *output)
{
    mg_move_down(output, (const uint8_t *)window + p->new_size, p->kept_size);
    (void)memcpy((uint8_t *)output + p->kept_size, rows, (size_t)p->new_size);
}

/* Replaces a part of a tensor of any type, at computed indices. */
typedef struct {
    int32_t axes;          /* the last ones of the four that matter; the others have size 1 */
    int32_t shape[4];      /* of the data, without axes that the update covers at the end */
    int32_t update[4];     /* of the update, likewise; 1 to shape[k] */
    int32_t inner_bytes;   /* of all elements of the axes left out */
    int32_t element_bytes; /* 1, 2, 4 or 8 */
} mg_dynamic_update_slice_params;

/* Copies data [shape] to output [shape], with update [update] in place of the elements from index
 * [index[0]]...[index[axes - 1]] on. An index is moved to the nearest with which the update is
 * inside the data. Output may be the same buffer as the data; otherwise they must not overlap. It
 * must not overlap update and index. */
MG_EXTERN void mg_dynamic_update_slice(const mg_dynamic_update_slice_params *p, const void *data,
                                       const void *update, const int32_t *index, void *output);

/* The first place of the update along one of the four axes. */
MG_INLINE int32_t mg_dynamic_update_slice_first(const mg_dynamic_update_slice_params *p,
                                                const int32_t *index, int32_t axis)
{
    const int32_t room = p->shape[axis] - p->update[axis];
    const int32_t skipped = 4 - p->axes;

    if (axis < skipped || index[axis - skipped] < 0) {
        return 0;
    }
    return (index[axis - skipped] > room) ? room : index[axis - skipped];
}

/* Writes the rows of the update, which are its last axis, into output. */
MG_INLINE void mg_dynamic_update_slice_rows(const mg_dynamic_update_slice_params *p,
                                            const void *update, const int32_t first[4],
                                            void *output)
{
    const int32_t *shape = p->shape;
    const int32_t row = p->update[3] * p->inner_bytes;

    for (int32_t i = 0; i < p->update[0]; i++) {
        for (int32_t j = 0; j < p->update[1]; j++) {
            for (int32_t k = 0; k < p->update[2]; k++) {
                const int32_t outer =
                    ((first[0] + i) * shape[1] + first[1] + j) * shape[2] + first[2] + k;
                void *to = mg_element_of(output, outer * shape[3] + first[3], p->inner_bytes);
                mg_move_bytes(to, update, row, p->element_bytes);
                update = mg_element(update, 1, row);
            }
        }
    }
}

MG_INLINE void mg_dynamic_update_slice_body(const mg_dynamic_update_slice_params *p,
                                            const void *data, const void *update,
                                            const int32_t *index, void *output)
{
    const int32_t elements = p->shape[0] * p->shape[1] * p->shape[2] * p->shape[3];
    int32_t first[4];

    for (int32_t axis = 0; axis < 4; axis++) {
        first[axis] = mg_dynamic_update_slice_first(p, index, axis);
    }
    if (output != data) {
        mg_move_bytes(output, data, elements * p->inner_bytes, p->element_bytes);
    }
    mg_dynamic_update_slice_rows(p, update, first, output);
}

#ifdef MG_COPIES_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_copy, void, void)
MG_DEFINE_UNARY(mg_strided_copy, void, void)
MG_DEFINE_UNARY(mg_write_slice, void, void)
MG_OUT_OF_LINE(mg_slide, (p, window, rows, output), const mg_slide_params *p, const void *window,
               const void *rows, void *output)
MG_OUT_OF_LINE(mg_dynamic_update_slice, (p, data, update, index, output),
               const mg_dynamic_update_slice_params *p, const void *data, const void *update,
               const int32_t *index, void *output)
#endif

#endif
