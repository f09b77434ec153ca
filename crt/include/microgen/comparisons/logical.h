/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise logic of two bool tensors (0 or 1 each) with broadcasting. */
#ifndef MICROGEN_LOGICAL_H
#define MICROGEN_LOGICAL_H

#include "microgen/elementwise/broadcast.h"

#ifdef MG_LOGICAL_IMPLEMENTATION /* with the out-of-line forms */
#define MG_LOGICAL_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_LOGICAL_EACH MG_ELEMENTWISE
#endif

MG_LOGICAL_EACH(mg_logical_and_bool, mg_broadcast_params, uint8_t, uint8_t, (lhs & rhs))
MG_LOGICAL_EACH(mg_logical_or_bool, mg_broadcast_params, uint8_t, uint8_t, (lhs | rhs))

#endif
