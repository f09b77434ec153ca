/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces rows of a tensor of any type, at computed positions, or combines numbers with them. */
#ifndef MICROGEN_SCATTER_H
#define MICROGEN_SCATTER_H

#include "microgen/element.h"
#include "tvm/runtime/crt/error_codes.h"

typedef struct {
    int32_t rows;          /* of the output */
    int32_t row_size;      /* elements of a row */
    int32_t count;         /* of the positions */
    int32_t is_filled;     /* 1: the data is one element, for all of the output; 0: rows */
    int32_t element_bytes; /* 1, 2, 4 or 8 */
    int32_t reduction;     /* of mg_scatter_combined; mg_scatter does not read it */
} mg_scatter_params;

/* Copies data [rows][row_size] to output, or fills output with data [1], then copies row n of
 * updates [count][row_size] to row positions[n], for n from 0 to count - 1, and returns 0. If a
 * position is not from 0 to rows - 1, returns kTvmErrorFunctionCallInvalidArg and leaves output
 * unchanged. Output may be the same buffer as the data if that has rows; otherwise no buffer may
 * overlap the output. */
MG_EXTERN int32_t mg_scatter(const mg_scatter_params *p, const void *data, const int32_t *positions,
                             const void *updates, void *output);

/* Whether all positions are those of rows. */
MG_INLINE int mg_scatter_is_inside(const int32_t *positions, int32_t count, int32_t rows)
{
    for (int32_t n = 0; n < count; n++) {
        if (positions[n] < 0 || positions[n] >= rows) {
            return 0;
        }
    }
    return 1;
}

/* Copies the data, or fills the output with it. */
MG_INLINE void mg_scatter_begin(const mg_scatter_params *p, const void *data, void *output)
{
    const int32_t size = p->rows * p->row_size;

    if (p->is_filled != 0) {
        mg_move_steps(output, data, 0, 0, size, p->element_bytes);
    } else if (output != data) {
        mg_move_bytes(output, data, size * p->element_bytes, p->element_bytes);
    }
}

MG_INLINE int32_t mg_scatter_body(const mg_scatter_params *p, const void *data,
                                  const int32_t *positions, const void *updates, void *output)
{
    const int32_t bytes = p->row_size * p->element_bytes;

    if (mg_scatter_is_inside(positions, p->count, p->rows) == 0) {
        return (int32_t)kTvmErrorFunctionCallInvalidArg;
    }
    mg_scatter_begin(p, data, output);
    for (int32_t n = 0; n < p->count; n++) {
        mg_move_bytes(mg_element_of(output, positions[n], bytes), mg_element(updates, n, bytes),
                      bytes, p->element_bytes);
    }
    return 0;
}

#define MG_SCATTER_ADD 0
#define MG_SCATTER_MUL 1
#define MG_SCATTER_MAX 2
#define MG_SCATTER_MIN 3

#define MG_SCATTER_NEVER(number) 0
#define MG_SCATTER_NAN(number) ((number) != (number))

/* Declares the kernel `symbol` for numbers of `type`, and defines its body as `symbol`_body.
 *
 * The kernel does the same as mg_scatter, but combines each element of a row of updates with that
 * of the output, by p->reduction, which is MG_SCATTER_ADD or another one. Sums and products are
 * computed in `wide`, so that those of integers wrap. The greater and the lesser of two numbers is
 * NaN if one of them `is_nan`. */
#define MG_SCATTER_COMBINED(symbol, type, wide, is_nan)                                            \
    typedef mg_scatter_params symbol##_params;                                                     \
    MG_EXTERN int32_t symbol(const symbol##_params *p, const type *data, const int32_t *positions, \
                             const type *updates, type *output);                                   \
    MG_INLINE type symbol##_of(int32_t reduction, type old, type update)                           \
    {                                                                                              \
        if (reduction == MG_SCATTER_ADD) {                                                         \
            return (type)((wide)old + (wide)update);                                               \
        }                                                                                          \
        if (reduction == MG_SCATTER_MUL) {                                                         \
            return (type)((wide)old * (wide)update);                                               \
        }                                                                                          \
        if (reduction == MG_SCATTER_MAX) {                                                         \
            return (old >= update || is_nan(old)) ? old : update;                                  \
        }                                                                                          \
        return (old <= update || is_nan(old)) ? old : update;                                      \
    }                                                                                              \
    MG_INLINE int32_t symbol##_body(const symbol##_params *p, const type *data,                    \
                                    const int32_t *positions, const type *updates, type *output)   \
    {                                                                                              \
        if (mg_scatter_is_inside(positions, p->count, p->rows) == 0) {                             \
            return (int32_t)kTvmErrorFunctionCallInvalidArg;                                       \
        }                                                                                          \
        mg_scatter_begin(p, data, output);                                                         \
        for (int32_t n = 0; n < p->count; n++) {                                                   \
            type *row = &output[positions[n] * p->row_size];                                       \
            for (int32_t i = 0; i < p->row_size; i++) {                                            \
                row[i] = symbol##_of(p->reduction, row[i], updates[n * p->row_size + i]);          \
            }                                                                                      \
        }                                                                                          \
        return 0;                                                                                  \
    }

MG_SCATTER_COMBINED(mg_scatter_f32, float, float, MG_SCATTER_NAN)
MG_SCATTER_COMBINED(mg_scatter_s32, int32_t, uint32_t, MG_SCATTER_NEVER)
MG_SCATTER_COMBINED(mg_scatter_s64, int64_t, uint64_t, MG_SCATTER_NEVER)

#ifdef MG_SCATTER_IMPLEMENTATION /* the out-of-line forms */
MG_OUT_OF_LINE_STATUS(mg_scatter, (p, data, positions, updates, output), const mg_scatter_params *p,
                      const void *data, const int32_t *positions, const void *updates, void *output)
#define MG_SCATTER_COMBINED_SHARED(symbol, type)                                                   \
    MG_OUT_OF_LINE_STATUS(symbol, (p, data, positions, updates, output), const symbol##_params *p, \
                          const type *data, const int32_t *positions, const type *updates,         \
                          type *output)

MG_SCATTER_COMBINED_SHARED(mg_scatter_f32, float)
MG_SCATTER_COMBINED_SHARED(mg_scatter_s32, int32_t)
MG_SCATTER_COMBINED_SHARED(mg_scatter_s64, int64_t)
#endif

#endif
