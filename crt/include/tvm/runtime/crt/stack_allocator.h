/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator whose blocks are freed in the reverse order of allocation, with the names of TVM
 * v0.14. Sizes are size_t, where TVM has int32_t. The tag that the optional check adds to a block
 * keeps the next block aligned. */
#ifndef TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_
#define TVM_RUNTIME_CRT_STACK_ALLOCATOR_H_

#include "crt_config.h"
#include "tvm/runtime/crt/error_codes.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A power of two, at least 8. */
#ifndef TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES
#define TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES 16
#endif

/* If TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK is defined, every free is checked. A tag of
 * TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES then follows each block. TVM's template of crt_config.h spells
 * the name with FIFO. */
#if defined(TVM_CRT_STACK_ALLOCATOR_ENABLE_FIFO_CHECK) &&                                          \
    !defined(TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK)
#define TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
#endif

#define STACK_ALLOCATOR_TAG 0xabcd1234U
#define STACK_ALLOCATOR_TAG_SIZE_BYTES TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES

typedef struct {
    uint8_t *next_alloc; /* always aligned */
    uint8_t *workspace;
    size_t workspace_size;
} tvm_workspace_t;

/* Initialises the allocator with memory from the first aligned byte on. Returns
 * kTvmErrorPlatformNoMemory if the memory has no aligned byte. */
tvm_crt_error_t StackMemoryManager_Init(tvm_workspace_t *tvm_runtime_workspace,
                                        uint8_t *g_aot_memory, size_t workspace_size);

/* Allocates an aligned block, whose size is rounded up to the alignment. Returns
 * kTvmErrorPlatformNoMemory and stores nothing if it does not fit. */
tvm_crt_error_t StackMemoryManager_Allocate(tvm_workspace_t *tvm_runtime_workspace, size_t nbytes,
                                            void **current_alloc);

/* Frees the block and all blocks after it. Returns kTvmErrorPlatformStackAllocBadFree if `ptr`
 * cannot be the start of a block in use or, with the check, if it is not the start of the last
 * block. */
tvm_crt_error_t StackMemoryManager_Free(tvm_workspace_t *tvm_runtime_workspace, void *ptr);

/* The same, with the check if `do_lifo_check` is not 0. It must have the same value in all calls
 * for one workspace. */
tvm_crt_error_t StackMemoryManager_Allocate_Body(tvm_workspace_t *tvm_runtime_workspace,
                                                 size_t nbytes, void **current_alloc,
                                                 uint8_t do_lifo_check);
tvm_crt_error_t StackMemoryManager_Free_Body(tvm_workspace_t *tvm_runtime_workspace, void *ptr,
                                             uint8_t do_lifo_check);

#ifdef __cplusplus
}
#endif

#endif
