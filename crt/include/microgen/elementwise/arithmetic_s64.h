/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise arithmetic of plain int64 numbers with broadcasting, modulo 2^64. */
#ifndef MICROGEN_ARITHMETIC_S64_H
#define MICROGEN_ARITHMETIC_S64_H

#include "microgen/elementwise/broadcast.h"

#ifdef MG_ARITHMETIC_S64_IMPLEMENTATION /* with the out-of-line forms */
#define MG_ARITHMETIC_S64_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_ARITHMETIC_S64_EACH MG_ELEMENTWISE
#endif

/* Sums, differences and products. */
MG_ARITHMETIC_S64_EACH(mg_add_s64, mg_broadcast_params, int64_t, int64_t,
                       (uint64_t)lhs + (uint64_t)rhs)
MG_ARITHMETIC_S64_EACH(mg_subtract_s64, mg_broadcast_params, int64_t, int64_t,
                       (uint64_t)lhs - (uint64_t)rhs)
MG_ARITHMETIC_S64_EACH(mg_multiply_s64, mg_broadcast_params, int64_t, int64_t,
                       (uint64_t)lhs *(uint64_t)rhs)

#endif
