/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the simulated accelerator: their parameters, which are those of the kernels that
 * compute them, their checks, and their computation. */
#ifndef MICROGEN_ACCELERATOR_COMMANDS_H
#define MICROGEN_ACCELERATOR_COMMANDS_H

#include "accelerator/accelerator_stream.h"
#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/dense/dense_s8.h"
#include "microgen/depthwise/depthwise_conv2d_s8.h"
#include "microgen/elementwise/multiply_s8.h"
#include "microgen/elementwise/scaled_sum.h"
#include "microgen/pooling/avg_pool2d.h"
#include "microgen/pooling/max_pool2d.h"
#include "microgen/tables/lookup.h"
#include "microgen/unary/clip.h"

#include <string.h>

/* Sets the structure `params`, whose fields are all int32_t, from a command's parameters. */
#define MG_ACCELERATOR_DECODE(command, params)                                                     \
    ((void)memcpy(&(params), (command)->parameters, sizeof(params)))

/* The maximum of window sizes, strides, dilations, paddings, and of the extents that windows move
 * over. */
#define MG_ACCELERATOR_MAX_EXTENT 32767

/* Checks that a command can be computed safely: all indices are inside its operands, all sums fit
 * int32, and the number of loop iterations is bounded by the sizes of its operands. Returns 0,
 * kTvmErrorExecutorGraphUnsupported for an unknown opcode, or kTvmErrorExecutorGraphMalformed. */
MG_EXTERN int32_t mg_accelerator_check(const mg_accelerator_command *command);

/* Computes a command that mg_accelerator_check found valid. */
MG_EXTERN void mg_accelerator_compute(const mg_accelerator_command *command);

#endif
