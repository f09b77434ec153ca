/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels of two int8 operands share whose output is computed row by row. */
#ifndef MICROGEN_PAIR_ROWS_H
#define MICROGEN_PAIR_ROWS_H

#include <stdint.h>

/* The first parameters of all kernels. */
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
