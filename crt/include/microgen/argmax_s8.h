/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of the greatest or least int8 values along one axis. */
#ifndef MICROGEN_ARGMAX_S8_H
#define MICROGEN_ARGMAX_S8_H

#include <stdint.h>

#include "microgen/arg_extreme.h"
#include "microgen/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef mg_arg_extreme_params mg_argmax_s8_params;

/* As MG_ARG_EXTREME says. Output must be aligned to its elements and not overlap the input. */
void mg_argmax_s8(const mg_argmax_s8_params *p, const int8_t *input, void *output);

MG_INLINE void mg_argmax_s8_body(const mg_argmax_s8_params *p, const int8_t *input, void *output)
{
    MG_ARG_EXTREME(int8_t, p, input, output);
}

#ifdef MG_ARGMAX_S8_IMPLEMENTATION /* the out-of-line form */
void mg_argmax_s8(const mg_argmax_s8_params *p, const int8_t *input, void *output)
{
    mg_argmax_s8_body(p, input, output);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
