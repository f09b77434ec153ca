/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/graph_parts.h"

#include <string.h>

static TVMGraphExecutorStorage *storage_of(const TVMGraphExecutor *executor, uint32_t entry)
{
    return &executor->storages[executor->storage_ids[entry]];
}

size_t mg_graph_memory_bytes(const TVMGraphExecutor *executor, bool all)
{
    size_t sum = 0U;
    uint32_t i;

    for (i = 0U; i < executor->counts.storages; i++) {
        const TVMGraphExecutorStorage *const storage = &executor->storages[i];
        const size_t nbytes = TVM_GRAPH_EXECUTOR_ALIGNED(storage->bytes);
        if (all || storage->is_written != 0U) {
            if (nbytes > SIZE_MAX - sum) {
                return SIZE_MAX;
            }
            sum += nbytes;
        }
    }
    return sum;
}

/* Sets the data of all tensors in the storage to `data`. */
static void bind(TVMGraphExecutor *executor, uint32_t storage_id, uint8_t *data)
{
    TVMGraphExecutorStorage *const storage = &executor->storages[storage_id];
    uint32_t i;

    if (storage->data == data) {
        return; /* an input at the same address as in the last run */
    }
    if (storage->data == NULL && storage->is_input != 0U) {
        executor->num_unset--;
    }
    storage->data = data;
    for (i = 0U; i < executor->counts.entries; i++) {
        if (executor->storage_ids[i] == storage_id) {
            executor->tensors[i].data = data;
        }
    }
}

static tvm_crt_error_t allocate(TVMGraphExecutor *executor, uint32_t storage_id)
{
    TVMGraphExecutorStorage *const storage = &executor->storages[storage_id];
    const size_t nbytes = TVM_GRAPH_EXECUTOR_ALIGNED(storage->bytes);

    if (nbytes > executor->num_free) {
        return kTvmErrorPlatformNoMemory;
    }
    storage->is_owned = 1U;
    bind(executor, storage_id, executor->free);
    executor->free += nbytes;
    executor->num_free -= nbytes;
    executor->num_used += nbytes;
    return kTvmErrorNoError;
}

tvm_crt_error_t mg_graph_give(TVMGraphExecutor *executor, uint8_t *memory, size_t nbytes)
{
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t i;

    executor->free = memory;
    executor->num_free = nbytes;
    for (i = 0U; i < executor->counts.storages; i++) {
        executor->num_unset += executor->storages[i].is_input;
    }
    for (i = 0U; i < executor->counts.storages && error == kTvmErrorNoError; i++) {
        if (executor->storages[i].is_written != 0U) {
            error = allocate(executor, i);
        }
    }
    return error;
}

tvm_crt_error_t mg_graph_copy_in(TVMGraphExecutor *executor, uint32_t entry, const uint8_t *data)
{
    if (storage_of(executor, entry)->is_owned == 0U) {
        const tvm_crt_error_t error = allocate(executor, executor->storage_ids[entry]);
        if (error != kTvmErrorNoError) {
            return error;
        }
    }
    (void)memmove(executor->tensors[entry].data, data,
                  mg_graph_tensor_bytes(&executor->tensors[entry]));
    return kTvmErrorNoError;
}

bool mg_graph_can_alias(const TVMGraphExecutor *executor, uint32_t entry)
{
    const TVMGraphExecutorStorage *const storage = storage_of(executor, entry);

    return storage->is_written == 0U &&
           storage->bytes == mg_graph_tensor_bytes(&executor->tensors[entry]);
}

bool mg_graph_is_aligned(const TVMGraphExecutor *executor, uint32_t entry, const uint8_t *data)
{
    return ((uintptr_t)data & (storage_of(executor, entry)->alignment - 1U)) == 0U;
}

void mg_graph_alias(TVMGraphExecutor *executor, uint32_t entry, uint8_t *data)
{
    storage_of(executor, entry)->is_owned = 0U;
    bind(executor, executor->storage_ids[entry], data);
}
