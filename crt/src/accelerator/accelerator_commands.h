/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the accelerator's commands, which are those of the kernels that compute
 * them. */
#ifndef MICROGEN_ACCELERATOR_COMMANDS_H
#define MICROGEN_ACCELERATOR_COMMANDS_H

#include "accelerator/accelerator_stream.h"

#include "microgen/add_s8.h"
#include "microgen/avg_pool2d_s8.h"
#include "microgen/clip_s8.h"
#include "microgen/conv2d_s8.h"
#include "microgen/dense_s8.h"
#include "microgen/depthwise_conv2d_s8.h"
#include "microgen/lookup_s8.h"
#include "microgen/max_pool2d_s8.h"
#include "microgen/multiply_s8.h"

#include <string.h>

/* Sets the structure `params`, whose fields are all int32_t, from a command's parameters. */
#define MG_ACCELERATOR_DECODE(command, params)                                                     \
    ((void)memcpy(&(params), (command)->parameters, sizeof(params)))

#endif
