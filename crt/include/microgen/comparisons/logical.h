/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise logic of two bool tensors (0 or 1 each) with broadcasting. */
#ifndef MICROGEN_LOGICAL_H
#define MICROGEN_LOGICAL_H

#include <stdint.h>

#include "microgen/elementwise/broadcast.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

MG_ELEMENTWISE(mg_logical_and_bool, mg_broadcast_params, uint8_t, uint8_t, (lhs & rhs))
MG_ELEMENTWISE(mg_logical_or_bool, mg_broadcast_params, uint8_t, uint8_t, (lhs | rhs))

#ifdef MG_LOGICAL_IMPLEMENTATION /* the out-of-line forms */
MG_ELEMENTWISE_SHARED(mg_logical_and_bool, uint8_t, uint8_t)
MG_ELEMENTWISE_SHARED(mg_logical_or_bool, uint8_t, uint8_t)
#endif

#ifdef __cplusplus
}
#endif

#endif
