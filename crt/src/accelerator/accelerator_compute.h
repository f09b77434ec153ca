/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the commands of the simulated accelerator. */
#ifndef MICROGEN_ACCELERATOR_COMPUTE_H
#define MICROGEN_ACCELERATOR_COMPUTE_H

#include "accelerator/accelerator_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes a command that mg_accelerator_check found valid. */
void mg_accelerator_compute(const mg_accelerator_command *command);

#ifdef __cplusplus
}
#endif

#endif
