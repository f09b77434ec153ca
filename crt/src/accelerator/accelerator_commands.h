/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the accelerator's commands, which are those of the kernels that compute
 * them. */
#ifndef MICROGEN_ACCELERATOR_COMMANDS_H
#define MICROGEN_ACCELERATOR_COMMANDS_H

#include "accelerator/accelerator_stream.h"

#include "microgen/convolution/s8/conv2d_s8.h"
#include "microgen/dense/dense_s8.h"
#include "microgen/depthwise/depthwise_conv2d_s8.h"
#include "microgen/elementwise/multiply_s8.h"
#include "microgen/elementwise/scaled_sum.h"
#include "microgen/pooling/avg_pool2d_s8.h"
#include "microgen/pooling/max_pool2d.h"
#include "microgen/tables/lookup.h"
#include "microgen/unary/clip.h"

#include <string.h>

/* Sets the structure `params`, whose fields are all int32_t, from a command's parameters. */
#define MG_ACCELERATOR_DECODE(command, params)                                                     \
    ((void)memcpy(&(params), (command)->parameters, sizeof(params)))

#endif
