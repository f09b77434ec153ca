/* SPDX-License-Identifier: Apache-2.0 */
/* The magnitude of int16 values. */
#ifndef MICROGEN_ABS_S16_H
#define MICROGEN_ABS_S16_H

#include "microgen/arithmetic/clamp_s16.h"
#include "microgen/requantization/requantize.h"
#include "microgen/unary/unary.h"

/* The scale is input scale / output scale. */
typedef mg_unary_scaled_params mg_abs_s16_params;

MG_INLINE int16_t mg_abs_s16_element(const mg_abs_s16_params *p, int16_t x)
{
    const int32_t magnitude = (x < 0) ? -x : x;
    return mg_clamp_s16(mg_requantize(magnitude, p->multiplier, p->shift), INT16_MIN, INT16_MAX);
}

/* Requantizes the magnitudes of input [size] with double rounding into output [size].
 *
 * Output may be the same buffer as the input; otherwise they must not overlap. */
MG_EACH_ELEMENT(mg_abs_s16, int16_t, int16_t)

#ifdef MG_ABS_S16_IMPLEMENTATION /* the out-of-line form */
MG_DEFINE_UNARY(mg_abs_s16, int16_t, int16_t)
#endif

#endif
