/* SPDX-License-Identifier: Apache-2.0 */
/* dense_s8_paired.h without scratch memory: its row of data is on the stack. */
#ifndef MICROGEN_DENSE_S8_PAIRED_STACK_H
#define MICROGEN_DENSE_S8_PAIRED_STACK_H

#include "microgen/dense/dense_s8_paired.h"
#include "microgen/out_of_line.h"

typedef mg_dense_s8_params mg_dense_s8_paired_stack_params;

/* As mg_dense_s8_paired_body. The row of data fits MG_PAIRED_STACK words. */
MG_BODY(mg_dense_s8_paired_stack, int32_t, int requantization)
{
    uint32_t values[MG_PAIRED_STACK];

    mg_dense_s8_paired_with(p, input, weight, bias, multiplier, shift, output, values,
                            requantization);
}

#define MG_DENSE_S8_PAIRED_STACK_PROTOTYPE(name)                                                   \
    MG_PROTOTYPE(name, mg_dense_s8_paired_stack, int32_t)
#define MG_DENSE_S8_PAIRED_STACK_KERNEL(name, ...)                                                 \
    MG_KERNEL(name, mg_dense_s8_paired_stack, int32_t, __VA_ARGS__)

#endif
