/* SPDX-License-Identifier: Apache-2.0 */
/* Products of all values up to each one, along one axis. microgen/reductions/cumulation.h describes
 * the parameters and arguments. */
#ifndef MICROGEN_CUMPROD_H
#define MICROGEN_CUMPROD_H

#include "microgen/reductions/cumulation.h"

MG_CUMULATION(mg_cumprod_s32, int32_t, uint32_t, 1, total *value)
MG_CUMULATION(mg_cumprod_s64, int64_t, uint64_t, 1, total *value)
MG_CUMULATION(mg_cumprod_f32, float, float, 1, total *value)

#ifdef MG_CUMPROD_IMPLEMENTATION /* the out-of-line forms */
MG_DEFINE_UNARY(mg_cumprod_s32, int32_t, int32_t)
MG_DEFINE_UNARY(mg_cumprod_s64, int64_t, int64_t)
MG_DEFINE_UNARY(mg_cumprod_f32, float, float)
#endif

#endif
