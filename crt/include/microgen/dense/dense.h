/* SPDX-License-Identifier: Apache-2.0 */
/* What fully connected layers share. */
#ifndef MICROGEN_DENSE_H
#define MICROGEN_DENSE_H

#include <stdint.h>

/* The first parameters of all kernels, which multiply input [batches][input_features] by weight
 * [output_features][input_features] into output [batches][output_features]. */
#define MG_DENSE_SIZES                                                                             \
    int32_t batches;                                                                               \
    int32_t input_features;                                                                        \
    int32_t output_features;

#endif
