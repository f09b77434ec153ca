/* SPDX-License-Identifier: Apache-2.0 */
/* Adds, multiplies or compares numbers with rows of a tensor, at computed positions. */
#ifndef MICROGEN_SCATTER_COMBINED_H
#define MICROGEN_SCATTER_COMBINED_H

#include "microgen/moves/scatter.h"

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

#ifdef MG_SCATTER_COMBINED_IMPLEMENTATION /* the out-of-line forms */
#define MG_SCATTER_COMBINED_SHARED(symbol, type)                                                   \
    int32_t symbol(const symbol##_params *p, const type *data, const int32_t *positions,           \
                   const type *updates, type *output)                                              \
    {                                                                                              \
        return symbol##_body(p, data, positions, updates, output);                                 \
    }

MG_SCATTER_COMBINED_SHARED(mg_scatter_f32, float)
MG_SCATTER_COMBINED_SHARED(mg_scatter_s32, int32_t)
MG_SCATTER_COMBINED_SHARED(mg_scatter_s64, int64_t)
#endif

#endif
