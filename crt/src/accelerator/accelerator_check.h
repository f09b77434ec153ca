/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a command of the simulated accelerator can be computed safely: all indices are inside
 * its operands, all sums fit int32, and the number of loop iterations is bounded by the sizes of
 * its operands. */
#ifndef MICROGEN_ACCELERATOR_CHECK_H
#define MICROGEN_ACCELERATOR_CHECK_H

#include "accelerator/accelerator_stream.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The maximum of window sizes, strides, dilations, paddings, and of the extents that windows move
 * over. */
#define MG_ACCELERATOR_MAX_EXTENT 32767

/* Returns 0, kTvmErrorExecutorGraphUnsupported for an unknown opcode, or
 * kTvmErrorExecutorGraphMalformed. */
int32_t mg_accelerator_check(const mg_accelerator_command *command);

#ifdef __cplusplus
}
#endif

#endif
