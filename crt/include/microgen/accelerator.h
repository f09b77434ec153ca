/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated accelerator for int8 networks, the target of the code generator `accelerator`.
 *
 * It runs command streams, in a format of its own, on memories that the caller passes. It is a
 * device of TVM's API: a stream runs after Activate and Open, and before Close and Deactivate.
 * Results equal those of microgen's kernels bit for bit, because it computes with them. It knows
 * nothing about the network.
 *
 * A stream is never trusted. Whatever its bytes are, the device reads and writes nothing outside
 * the memories. It writes nothing at all unless every command of the stream is valid. */
#ifndef MICROGEN_ACCELERATOR_H
#define MICROGEN_ACCELERATOR_H

#include "microgen/accelerator_memory.h"
#include "microgen/inline.h"

typedef enum {
    MG_ACCELERATOR_OFF,
    MG_ACCELERATOR_ACTIVE, /* after Activate, and after Close */
    MG_ACCELERATOR_OPEN    /* after Open: runs streams */
} mg_accelerator_state;

/* The state of the device, which hooks and functions receive as their context. All zeros is the
 * state `off`. The numbers count successful calls. */
typedef struct {
    mg_accelerator_state state;
    uint32_t activations;
    uint32_t opens;
    uint32_t streams;
    uint32_t commands;
} mg_accelerator;

/* The hooks. `context` must be an mg_accelerator.
 *
 * Each returns 0, or kTvmErrorFunctionCallInvalidArg if there is no context. Activate requires the
 * state off, Open active and Close open; otherwise they return kTvmErrorSessionInvalidState and
 * change nothing. Deactivate accepts every state except off, because after an error Close may not
 * have been called. */
MG_EXTERN int32_t mg_accelerator_activate(void *context);
MG_EXTERN int32_t mg_accelerator_open(void *context);
MG_EXTERN int32_t mg_accelerator_close(void *context);
MG_EXTERN int32_t mg_accelerator_deactivate(void *context);

/* Runs the stream of `nbytes` bytes on `count` memories, which must be the ones that the stream was
 * generated for.
 *
 * Returns 0; kTvmErrorFunctionCallInvalidArg if a pointer is missing; kTvmErrorSessionInvalidState
 * unless the device is open; kTvmErrorExecutorGraphUnsupported for a version or a command that it
 * does not know; kTvmErrorExecutorGraphMalformed for any other invalid stream. */
MG_EXTERN int32_t mg_accelerator_run(void *context, const uint8_t *stream, uint32_t nbytes,
                                     const mg_accelerator_memory *memories, uint32_t count);

#endif
