/* SPDX-License-Identifier: Apache-2.0 */
/* dense_s8_paired.h without any memory for a row of data: its values are widened for each eight
 * output channels again. */
#ifndef MICROGEN_DENSE_S8_PAIRED_DIRECT_H
#define MICROGEN_DENSE_S8_PAIRED_DIRECT_H

#include "microgen/dense/dense_s8_paired.h"
#include "microgen/out_of_line.h"

typedef mg_dense_s8_params mg_dense_s8_paired_direct_params;

MG_DENSE_PAIRED_CORES(mg_direct_dense_high, mg_direct_dense_clamped, MG_DENSE_VALUES)

/* As mg_dense_s8_paired_body. The number of input features is a multiple of four. */
MG_BODY(mg_dense_s8_paired_direct, int32_t, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const mg_paired_filters filters = {weight, bias, p->input_features / 4, p->output_features};

    for (int32_t n = 0; n < p->batches; n++) {
        const int8_t *const row = &input[n * p->input_features];
        int8_t *const out = (int8_t *)output + n * p->output_features;
        if (requantization == MG_HIGH_WIDE) {
            mg_direct_dense_high(&filters, p->per_channel, &scaling, row, out);
        } else {
            mg_direct_dense_clamped(&filters, p->per_channel, &scaling, row, out);
        }
    }
}

#define MG_DENSE_S8_PAIRED_DIRECT_PROTOTYPE(name)                                                  \
    MG_PROTOTYPE(name, mg_dense_s8_paired_direct, int32_t)
#define MG_DENSE_S8_PAIRED_DIRECT_KERNEL(name, ...)                                                \
    MG_KERNEL(name, mg_dense_s8_paired_direct, int32_t, __VA_ARGS__)

/* dense_s8_paired.h without scratch memory: its row of data is on the stack. */
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
