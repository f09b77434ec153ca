/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator whose blocks are whole pages of a static pool and may be freed in any order, with
 * the names of TVM v0.14. It needs no heap, and no function ends the program. */
#ifndef TVM_RUNTIME_CRT_PAGE_ALLOCATOR_H_
#define TVM_RUNTIME_CRT_PAGE_ALLOCATOR_H_

#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MemoryManagerInterface MemoryManagerInterface;

struct MemoryManagerInterface {
    /* Stores the address of the first run of free pages that is long enough. Returns
     * kTvmErrorPlatformNoMemory and stores nothing if there is none. `dev` is ignored. */
    tvm_crt_error_t (*Allocate)(MemoryManagerInterface *interface, size_t num_bytes, DLDevice dev,
                                void **out_ptr);

    /* Frees a block. Its pages may become part of larger blocks. Returns
     * kTvmErrorPlatformStackAllocBadFree if `ptr` is not the start of a block in use. */
    tvm_crt_error_t (*Free)(MemoryManagerInterface *interface, void *ptr, DLDevice dev);

    /* The number of blocks in use. */
    int vleak_size;
};

/* Clears the pool, makes a manager at its start, and stores the manager's address. A page has
 * 2^page_size_bytes_log2 bytes, at least 16, and takes 4 further bytes of the pool. Blocks are
 * aligned to 16. Errors: kTvmErrorFunctionCallInvalidArg if a pointer is NULL or the size of a page
 * is not from 2^4 to 2^30, kTvmErrorPlatformNoMemory if the pool has no room for one page. */
tvm_crt_error_t PageMemoryManagerCreate(MemoryManagerInterface **manager, uint8_t *memory_pool,
                                        size_t memory_pool_size_bytes, size_t page_size_bytes_log2);

#ifdef __cplusplus
}
#endif

#endif
