/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table that is stored as integers, as float32. */
#ifndef MICROGEN_EMBEDDING_F32_H
#define MICROGEN_EMBEDDING_F32_H

#include "microgen/weight_only/weight_only.h"
#include "tvm/runtime/crt/error_codes.h"

typedef struct {
    int32_t count;       /* of the indices */
    int32_t rows;        /* of the table */
    int32_t row_size;    /* numbers of a row */
    int32_t per_channel; /* 1: one scale per row; 0: one for all */
} mg_embedding_f32_params;

/* The kernels mg_embedding_f32 and mg_embedding_f32_int4. Dequantizes the rows of table
 * [rows][row_size] at indices [count] into output [count][row_size] and returns 0. The table is
 * stored as the constant `weights` says. If an index is not from 0 to rows - 1, returns
 * kTvmErrorFunctionCallInvalidArg and leaves the output unchanged. scale has `rows` elements if
 * per_channel is 1, otherwise one. Output must not overlap the indices. */
MG_INLINE int32_t mg_embedding_f32_body(const mg_embedding_f32_params *p, const int32_t *indices,
                                        const void *table, const float *scale, float *output,
                                        int weights)
{
    const int32_t row_bytes = mg_row_bytes_stored(p->row_size, weights);

    for (int32_t i = 0; i < p->count; i++) {
        if (indices[i] < 0 || indices[i] >= p->rows) {
            return (int32_t)kTvmErrorFunctionCallInvalidArg;
        }
    }
    for (int32_t i = 0; i < p->count; i++) {
        mg_dequantize_row(mg_row_stored(table, indices[i], row_bytes), p->row_size,
                          scale[(p->per_channel != 0) ? indices[i] : 0], &output[i * p->row_size],
                          weights);
    }
    return 0;
}

#define MG_EMBEDDING_F32_PROTOTYPE(name)                                                           \
    int32_t name(const mg_embedding_f32_params *p, const int32_t *indices, const void *table,      \
                 const float *scale, float *output)
#define MG_EMBEDDING_F32_KERNEL(name, weights)                                                     \
    MG_EMBEDDING_F32_PROTOTYPE(name);                                                              \
    MG_EMBEDDING_F32_PROTOTYPE(name)                                                               \
    {                                                                                              \
        return mg_embedding_f32_body(p, indices, table, scale, output, weights);                   \
    }

#endif
