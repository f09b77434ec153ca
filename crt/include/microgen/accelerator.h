/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated accelerator for int8 networks: what the code generator `accelerator` compiles for.
 *
 * It takes command streams, which only it understands, and computes them on memories that it is
 * handed. It is a device of TVM's API: a stream is run between Activate, Open and Close,
 * Deactivate. It computes with microgen's own kernels, bit for bit, but knows nothing of the
 * network.
 *
 * A stream is never trusted. Whatever its bytes are, nothing outside the memories is read or
 * written, and nothing at all is written unless every command of it is valid. */
#ifndef MICROGEN_ACCELERATOR_H
#define MICROGEN_ACCELERATOR_H

#include <stdint.h>

#include "microgen/accelerator_memory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    MG_ACCELERATOR_OFF,
    MG_ACCELERATOR_ACTIVE, /* after Activate, and after Close */
    MG_ACCELERATOR_OPEN    /* after Open: takes streams */
} mg_accelerator_state;

/* The device, which hooks and functions are passed as its context. All zeros: off. The numbers
 * count what succeeded. */
typedef struct {
    mg_accelerator_state state;
    uint32_t activations;
    uint32_t opens;
    uint32_t streams;
    uint32_t commands;
} mg_accelerator;

/* The hooks. `context` must be an mg_accelerator.
 *
 * Each returns 0; kTvmErrorFunctionCallInvalidArg if there is no context;
 * kTvmErrorSessionInvalidState, and changes nothing, unless the device is off (Activate), active
 * (Open), open (Close). Deactivate takes any state but off: after an error, Close may be missing.
 */
int32_t mg_accelerator_activate(void *context);
int32_t mg_accelerator_open(void *context);
int32_t mg_accelerator_close(void *context);
int32_t mg_accelerator_deactivate(void *context);

/* Runs the stream of `nbytes` on `count` memories, which must be those that it was made for.
 *
 * Returns 0; kTvmErrorFunctionCallInvalidArg if a pointer is missing; kTvmErrorSessionInvalidState
 * unless the device is open; kTvmErrorExecutorGraphUnsupported for a version or a command that it
 * does not know; kTvmErrorExecutorGraphMalformed for any other stream that is none. */
int32_t mg_accelerator_run(void *context, const uint8_t *stream, uint32_t nbytes,
                           const mg_accelerator_memory *memories, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
