/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise kernels of two operands, either of which may be broadcast along any axis. */
#ifndef MICROGEN_BROADCAST_H
#define MICROGEN_BROADCAST_H

#include <stdint.h>

#include "microgen/inline.h"

/* The first fields of every kernel's parameters. */
#define MG_BROADCAST_SHAPES                                                                        \
    int32_t shape[4];      /* of the output */                                                     \
    int32_t lhs_stride[4]; /* elements between neighbouring indices; 0: broadcast */               \
    int32_t rhs_stride[4]; /* the same */

/* Those of int8 operands follow. */
#define MG_BROADCAST_OFFSETS                                                                       \
    int32_t lhs_offset;    /* minus the zero point: -127 to 128 */                                 \
    int32_t rhs_offset;    /* the same */                                                          \
    int32_t output_offset; /* the output's zero point: -128 to 127 */

/* The parameters of a kernel without others. */
typedef struct {
    MG_BROADCAST_SHAPES
} mg_broadcast_params;

/* Index of element [n][y][x][c] in an operand. */
MG_INLINE int32_t mg_broadcast_at(const int32_t stride[4], int32_t n, int32_t y, int32_t x,
                                  int32_t c)
{
    return n * stride[0] + y * stride[1] + x * stride[2] + c * stride[3];
}

/* output[i] = element(p, left, right) for each element of the output, in order. p points to a
 * struct with shape[4] of the output, and lhs_stride[4] and rhs_stride[4] in elements (0: the
 * operand is broadcast along this axis). Both elements are read before the result is written, so
 * the output may be the same buffer as an operand that has its shape.
 *
 * This is a macro so that `element` works for any types and is inlined at every optimisation
 * level. */
#define MG_BROADCAST(element, p, lhs, rhs, output)                                                 \
    do {                                                                                           \
        int32_t i_ = 0;                                                                            \
        for (int32_t n_ = 0; n_ < (p)->shape[0]; n_++) {                                           \
            for (int32_t y_ = 0; y_ < (p)->shape[1]; y_++) {                                       \
                for (int32_t x_ = 0; x_ < (p)->shape[2]; x_++) {                                   \
                    for (int32_t c_ = 0; c_ < (p)->shape[3]; c_++) {                               \
                        (output)[i_] =                                                             \
                            element((p), (lhs)[mg_broadcast_at((p)->lhs_stride, n_, y_, x_, c_)],  \
                                    (rhs)[mg_broadcast_at((p)->rhs_stride, n_, y_, x_, c_)]);      \
                        i_++;                                                                      \
                    }                                                                              \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Declares the kernel `symbol` of two operands, and defines its body as `symbol`_body.
 *
 * The kernel computes output [shape[0]][shape[1]][shape[2]][shape[3]] of type `out`. Each element
 * is the expression `result` of p, lhs and rhs: p points to the parameters, of type `params`, and
 * lhs and rhs are one element of each operand, of type `in`. Output may be the same buffer as an
 * operand that has the output's shape if `in` and `out` have the same size; otherwise it must not
 * overlap an operand. */
#define MG_ELEMENTWISE(symbol, params, in, out, result)                                            \
    typedef params symbol##_params;                                                                \
    MG_DECLARE_BINARY(symbol, in, out);                                                            \
    MG_INLINE out symbol##_element(const symbol##_params *p, in lhs, in rhs)                       \
    {                                                                                              \
        (void)p;                                                                                   \
        return (out)(result);                                                                      \
    }                                                                                              \
    MG_INLINE void symbol##_body(const symbol##_params *p, const in *lhs, const in *rhs,           \
                                 out *output)                                                      \
    {                                                                                              \
        MG_BROADCAST(symbol##_element, p, lhs, rhs, output);                                       \
    }

/* The same with its out-of-line form. */
#define MG_ELEMENTWISE_DEFINED(symbol, params, in, out, result)                                    \
    MG_ELEMENTWISE(symbol, params, in, out, result)                                                \
    MG_DEFINE_BINARY(symbol, in, out)

/* Declares the kernel `symbol` and defines its body, by the function `symbol`_element(p, lhs, rhs).
 */
#define MG_EACH_PAIR(symbol, left, right, out)                                                     \
    MG_EXTERN void symbol(const symbol##_params *p, const left *lhs, const right *rhs,             \
                          out *output);                                                            \
    MG_INLINE void symbol##_body(const symbol##_params *p, const left *lhs, const right *rhs,      \
                                 out *output)                                                      \
    {                                                                                              \
        MG_BROADCAST(symbol##_element, p, lhs, rhs, output);                                       \
    }

/* The first parameters of kernels of two int8 operands whose output is computed row by row. */
#define MG_PAIR_ROWS                                                                               \
    int32_t rows;     /* of the output */                                                          \
    int32_t size;     /* elements of a row */                                                      \
    int32_t lhs_row;  /* elements from one row of lhs to the next; 0: broadcast */                 \
    int32_t rhs_row;  /* the same */                                                               \
    int32_t lhs_step; /* elements from one of a row to the next: 1, or 0: broadcast */             \
    int32_t rhs_step; /* the same; at least one of them is 1 if size is more than 1 */

/* The arguments of kernels with coefficients, whose parameters are `symbol`_params. */
#define MG_ARGUMENTS_PAIR_ROWS(symbol)                                                             \
    const symbol##_params *p, const int8_t *lhs, const int8_t *rhs, const int32_t *coefficient,    \
        int8_t *output

#endif
