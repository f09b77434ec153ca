/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm/runtime/crt/stack_allocator.h"

#include <string.h>

#define ALIGNMENT ((size_t)TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES)

#ifdef TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
#define CHECK_DEFAULT 1U
#else
#define CHECK_DEFAULT 0U
#endif

/* The number of bytes from `value` to the next aligned value. */
static size_t padding(size_t value)
{
    return (ALIGNMENT - (value & (ALIGNMENT - 1U))) & (ALIGNMENT - 1U);
}

tvm_crt_error_t StackMemoryManager_Init(tvm_workspace_t *tvm_runtime_workspace,
                                        uint8_t *g_aot_memory, size_t workspace_size)
{
    const size_t offset = padding((uintptr_t)g_aot_memory);

    if (g_aot_memory == NULL || offset > workspace_size) {
        return kTvmErrorPlatformNoMemory;
    }
    tvm_runtime_workspace->workspace = g_aot_memory + offset;
    tvm_runtime_workspace->next_alloc = g_aot_memory + offset;
    tvm_runtime_workspace->workspace_size = workspace_size - offset;
    return kTvmErrorNoError;
}

static size_t in_use(const tvm_workspace_t *workspace)
{
    return (size_t)(workspace->next_alloc - workspace->workspace);
}

tvm_crt_error_t StackMemoryManager_Allocate_Body(tvm_workspace_t *tvm_runtime_workspace,
                                                 size_t nbytes, void **current_alloc,
                                                 uint8_t do_lifo_check)
{
    const size_t extra =
        padding(nbytes) + (do_lifo_check != 0U ? (size_t)STACK_ALLOCATOR_TAG_SIZE_BYTES : 0U);
    const size_t left = tvm_runtime_workspace->workspace_size - in_use(tvm_runtime_workspace);
    uint8_t *const block = tvm_runtime_workspace->next_alloc;

    if (nbytes > left || extra > left - nbytes) {
        return kTvmErrorPlatformNoMemory;
    }
    if (do_lifo_check != 0U) {
        const size_t tag = (nbytes + extra) ^ STACK_ALLOCATOR_TAG;
        (void)memcpy(block + nbytes + padding(nbytes), &tag, sizeof(tag));
    }
    tvm_runtime_workspace->next_alloc = block + nbytes + extra;
    *current_alloc = block;
    return kTvmErrorNoError;
}

tvm_crt_error_t StackMemoryManager_Allocate(tvm_workspace_t *tvm_runtime_workspace, size_t nbytes,
                                            void **current_alloc)
{
    return StackMemoryManager_Allocate_Body(tvm_runtime_workspace, nbytes, current_alloc,
                                            CHECK_DEFAULT);
}

tvm_crt_error_t StackMemoryManager_Free_Body(tvm_workspace_t *tvm_runtime_workspace, void *ptr,
                                             uint8_t do_lifo_check)
{
    /* Compares integers, because `ptr` may point anywhere, and comparing unrelated pointers is
     * undefined. */
    const uintptr_t start = (uintptr_t)tvm_runtime_workspace->workspace;
    const size_t offset = (uintptr_t)ptr - start;
    const size_t used = in_use(tvm_runtime_workspace);

    if ((uintptr_t)ptr < start || offset > used || padding(offset) != 0U) {
        return kTvmErrorPlatformStackAllocBadFree;
    }
    if (do_lifo_check != 0U) {
        size_t tag = 0U;
        if (used < STACK_ALLOCATOR_TAG_SIZE_BYTES) {
            return kTvmErrorPlatformStackAllocBadFree;
        }
        (void)memcpy(&tag, tvm_runtime_workspace->next_alloc - STACK_ALLOCATOR_TAG_SIZE_BYTES,
                     sizeof(tag));
        if ((tag ^ STACK_ALLOCATOR_TAG) != used - offset) {
            return kTvmErrorPlatformStackAllocBadFree;
        }
    }
    tvm_runtime_workspace->next_alloc = tvm_runtime_workspace->workspace + offset;
    return kTvmErrorNoError;
}

tvm_crt_error_t StackMemoryManager_Free(tvm_workspace_t *tvm_runtime_workspace, void *ptr)
{
    return StackMemoryManager_Free_Body(tvm_runtime_workspace, ptr, CHECK_DEFAULT);
}
