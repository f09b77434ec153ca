/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise arithmetic of plain int64 numbers with broadcasting, modulo 2^64. */
#ifndef MICROGEN_ARITHMETIC_S64_H
#define MICROGEN_ARITHMETIC_S64_H

#include <stdint.h>

#include "microgen/elementwise/broadcast.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums, differences and products. */
MG_ELEMENTWISE(mg_add_s64, mg_broadcast_params, int64_t, int64_t, (uint64_t)lhs + (uint64_t)rhs)
MG_ELEMENTWISE(mg_subtract_s64, mg_broadcast_params, int64_t, int64_t,
               (uint64_t)lhs - (uint64_t)rhs)
MG_ELEMENTWISE(mg_multiply_s64, mg_broadcast_params, int64_t, int64_t, (uint64_t)lhs *(uint64_t)rhs)

#ifdef MG_ARITHMETIC_S64_IMPLEMENTATION /* the out-of-line forms */
MG_ELEMENTWISE_SHARED(mg_add_s64, int64_t, int64_t)
MG_ELEMENTWISE_SHARED(mg_subtract_s64, int64_t, int64_t)
MG_ELEMENTWISE_SHARED(mg_multiply_s64, int64_t, int64_t)
#endif

#ifdef __cplusplus
}
#endif

#endif
