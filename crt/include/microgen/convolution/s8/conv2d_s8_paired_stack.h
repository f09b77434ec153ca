/* SPDX-License-Identifier: Apache-2.0 */
/* conv2d_s8_paired.h without scratch memory: its columns are on the stack. */
#ifndef MICROGEN_CONV2D_S8_PAIRED_STACK_H
#define MICROGEN_CONV2D_S8_PAIRED_STACK_H

#include "microgen/convolution/s8/conv2d_s8_paired.h"
#include "microgen/out_of_line.h"

typedef mg_conv2d_s8_params mg_conv2d_s8_paired_stack_params;

/* As mg_conv2d_s8_paired_body. The columns of four pixels fit MG_PAIRED_STACK words. */
MG_BODY(mg_conv2d_s8_paired_stack, int32_t, int requantization)
{
    uint32_t columns[MG_PAIRED_STACK];

    mg_conv2d_s8_paired_with(p, input, weight, bias, multiplier, shift, output, columns,
                             requantization);
}

#define MG_CONV2D_S8_PAIRED_STACK_PROTOTYPE(name)                                                  \
    MG_PROTOTYPE(name, mg_conv2d_s8_paired_stack, int32_t)
#define MG_CONV2D_S8_PAIRED_STACK_KERNEL(name, ...)                                                \
    MG_KERNEL(name, mg_conv2d_s8_paired_stack, int32_t, __VA_ARGS__)

#endif
