/* SPDX-License-Identifier: Apache-2.0 */
#include "microgen/accelerator.h"

#include "accelerator/accelerator_commands.h"
#include "accelerator/accelerator_stream.h"

#include "tvm/runtime/crt/error_codes.h"

#include <stddef.h>

/* Changes the state from `from` to `to`, if it is `from`. */
static int32_t move(mg_accelerator *device, mg_accelerator_state from, mg_accelerator_state to)
{
    if (device == NULL) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    if (device->state != from) {
        return kTvmErrorSessionInvalidState;
    }
    device->state = to;
    return kTvmErrorNoError;
}

int32_t mg_accelerator_activate(void *context)
{
    mg_accelerator *const device = context;
    const int32_t status = move(device, MG_ACCELERATOR_OFF, MG_ACCELERATOR_ACTIVE);

    if (status == kTvmErrorNoError) {
        device->activations++;
    }
    return status;
}

int32_t mg_accelerator_open(void *context)
{
    mg_accelerator *const device = context;
    const int32_t status = move(device, MG_ACCELERATOR_ACTIVE, MG_ACCELERATOR_OPEN);

    if (status == kTvmErrorNoError) {
        device->opens++;
    }
    return status;
}

int32_t mg_accelerator_close(void *context)
{
    return move(context, MG_ACCELERATOR_OPEN, MG_ACCELERATOR_ACTIVE);
}

int32_t mg_accelerator_deactivate(void *context)
{
    (void)mg_accelerator_close(context);
    return move(context, MG_ACCELERATOR_ACTIVE, MG_ACCELERATOR_OFF);
}

static bool are_given(const mg_accelerator_memory *memories, uint32_t count)
{
    uint32_t i;

    for (i = 0U; i < count; i++) {
        if (memories[i].read == NULL && memories[i].bytes > 0U) {
            return false;
        }
    }
    return true;
}

static int32_t check(const mg_accelerator_stream *stream, uint32_t *commands)
{
    mg_accelerator_stream rest = *stream;
    mg_accelerator_command command;
    int32_t status = kTvmErrorNoError;

    *commands = 0U;
    while (status == kTvmErrorNoError && !mg_accelerator_at_end(&rest)) {
        status = mg_accelerator_next(&rest, &command);
        if (status == kTvmErrorNoError) {
            status = mg_accelerator_check(&command);
        }
        (*commands)++;
    }
    return status;
}

int32_t mg_accelerator_run(void *context, const uint8_t *stream, uint32_t nbytes,
                           const mg_accelerator_memory *memories, uint32_t count)
{
    mg_accelerator *const device = context;
    mg_accelerator_stream rest;
    mg_accelerator_command command;
    uint32_t commands;
    uint32_t i;
    int32_t status;

    if (device == NULL || stream == NULL || memories == NULL || !are_given(memories, count)) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    if (device->state != MG_ACCELERATOR_OPEN) {
        return kTvmErrorSessionInvalidState;
    }
    status = mg_accelerator_begin(&rest, stream, nbytes, memories, count);
    if (status == kTvmErrorNoError) {
        status = check(&rest, &commands);
    }
    if (status != kTvmErrorNoError) {
        return status;
    }
    for (i = 0U; i < commands; i++) {
        (void)mg_accelerator_next(&rest, &command); /* check() has already read it */
        mg_accelerator_compute(&command);
    }
    device->streams++;
    device->commands += commands;
    return kTvmErrorNoError;
}
