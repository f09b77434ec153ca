/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm/runtime/crt/platform_memory.h"
#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/crt/stack_allocator.h"

static tvm_workspace_t workspace;

tvm_crt_error_t TVMPlatformMemorySetPool(uint8_t *pool, size_t num_bytes)
{
    return StackMemoryManager_Init(&workspace, pool, num_bytes);
}

TVM_WEAK tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void **out_ptr)
{
    (void)dev;
    if (workspace.workspace == NULL) {
        return kTvmErrorPlatformNoMemory;
    }
    return StackMemoryManager_Allocate(&workspace, num_bytes, out_ptr);
}

TVM_WEAK tvm_crt_error_t TVMPlatformMemoryFree(void *ptr, DLDevice dev)
{
    (void)dev;
    return StackMemoryManager_Free(&workspace, ptr);
}

static DLDevice device(int device_type, int device_id)
{
    const DLDevice result = {(DLDeviceType)device_type, device_id};

    return result;
}

TVM_WEAK void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes,
                                        int dtype_code_hint, int dtype_bits_hint)
{
    void *block = NULL;

    (void)dtype_code_hint;
    (void)dtype_bits_hint;
    if (nbytes > SIZE_MAX ||
        TVMPlatformMemoryAllocate((size_t)nbytes, device(device_type, device_id), &block) !=
            kTvmErrorNoError) {
        return NULL;
    }
    return block;
}

TVM_WEAK int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr)
{
    return TVMPlatformMemoryFree(ptr, device(device_type, device_id));
}
