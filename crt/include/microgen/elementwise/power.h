/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise powers, with broadcasting. */
#ifndef MICROGEN_POWER_H
#define MICROGEN_POWER_H

#include "microgen/arithmetic/float_power.h"
#include "microgen/elementwise/broadcast.h"

#ifdef MG_POWER_IMPLEMENTATION /* with the out-of-line forms */
#define MG_POWER_EACH MG_ELEMENTWISE_DEFINED
#else
#define MG_POWER_EACH MG_ELEMENTWISE
#endif

/* base^exponent modulo 2^64; one with a negative exponent is truncated, and 0 if the base is 0. */
MG_INLINE uint64_t mg_integer_power(int64_t base, int64_t exponent)
{
    uint64_t left = (exponent < 0) ? 0U - (uint64_t)exponent : (uint64_t)exponent;
    uint64_t factor = (uint64_t)base;
    uint64_t power = 1U;

    if (exponent < 0 && base != 1 && base != -1) {
        return 0U;
    }
    for (; left != 0U; left >>= 1) {
        power *= ((left & 1U) != 0U) ? factor : 1U;
        factor *= factor;
    }
    return power;
}

MG_POWER_EACH(mg_power_s32, mg_broadcast_params, int32_t, int32_t, mg_integer_power(lhs, rhs))
MG_POWER_EACH(mg_power_s64, mg_broadcast_params, int64_t, int64_t, mg_integer_power(lhs, rhs))
MG_POWER_EACH(mg_power_f32, mg_broadcast_params, float, float, mg_f32_pow(lhs, rhs))

#endif
