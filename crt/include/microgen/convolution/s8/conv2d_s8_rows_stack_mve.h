/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d_s8_rows_mve.h without scratch memory: its strips are on the stack. */
#ifndef MICROGEN_CONV2D_S8_ROWS_STACK_MVE_H
#define MICROGEN_CONV2D_S8_ROWS_STACK_MVE_H

#include "microgen/convolution/s8/conv2d_s8_rows_mve.h"
#include "microgen/out_of_line.h"

typedef mg_conv2d_s8_params mg_conv2d_s8_rows_stack_mve_params;

#if defined(__ARM_FEATURE_MVE)

#define MG_MVE_STRIP_STACK 512 /* bytes */

/* As mg_conv2d_s8_rows_mve_body, for strips of at most MG_MVE_STRIP_STACK bytes. */
MG_INLINE void mg_conv2d_s8_rows_stack_mve_body(const mg_conv2d_s8_params *p, const int8_t *input,
                                                const int8_t *weight, const int32_t *bias,
                                                const int32_t *multiplier, const int8_t *shift,
                                                void *output, int requantization)
{
    uint8_t strip[MG_MVE_STRIP_STACK];

    mg_conv2d_s8_rows_mve_body(p, input, weight, bias, multiplier, shift, output, strip,
                               requantization);
}

#define MG_CONV2D_S8_ROWS_STACK_MVE_KERNEL(name, ...)                                              \
    MG_KERNEL(name, mg_conv2d_s8_rows_stack_mve, int8_t, __VA_ARGS__)

#else

#define MG_CONV2D_S8_ROWS_STACK_MVE_KERNEL(name, ...) MG_CONV2D_S8_ROWS_STACK_MVE_PROTOTYPE(name);

#endif

#define MG_CONV2D_S8_ROWS_STACK_MVE_PROTOTYPE(name)                                                \
    MG_PROTOTYPE(name, mg_conv2d_s8_rows_stack_mve, int8_t)

#endif
