/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a command of the simulated accelerator may be computed: no index leaves its operands, no
 * sum leaves int32, no loop has more rounds than its operands have elements to justify. */
#ifndef MICROGEN_ACCELERATOR_CHECK_H
#define MICROGEN_ACCELERATOR_CHECK_H

#include "accelerator/accelerator_stream.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of windows, strides, dilations, paddings, and the extents that windows move over. */
#define MG_ACCELERATOR_MAX_EXTENT 32767

/* Returns 0; kTvmErrorExecutorGraphUnsupported for an opcode that there is not;
 * kTvmErrorExecutorGraphMalformed. */
int32_t mg_accelerator_check(const mg_accelerator_command *command);

#ifdef __cplusplus
}
#endif

#endif
