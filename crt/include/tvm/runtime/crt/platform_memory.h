/* SPDX-License-Identifier: Apache-2.0 */
/* Memory at run time, which only programs written for TVM's runtime need. The functions are TVM's
 * (v0.14, where platform.h has them), both weak: a program may bring its own. */
#ifndef TVM_RUNTIME_CRT_PLATFORM_MEMORY_H_
#define TVM_RUNTIME_CRT_PLATFORM_MEMORY_H_

#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the functions below take memory from: `pool`, whole, until the next call. Not in TVM. */
tvm_crt_error_t TVMPlatformMemorySetPool(uint8_t *pool, size_t num_bytes);

/* Memory aligned to TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES. kTvmErrorPlatformNoMemory if the pool has
 * not enough left, or none was set. */
tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void **out_ptr);

/* Frees the block and all that were allocated after it. kTvmErrorPlatformStackAllocBadFree if `ptr`
 * does not point into memory that is in use. */
tvm_crt_error_t TVMPlatformMemoryFree(void *ptr, DLDevice dev);

#ifdef __cplusplus
}
#endif

#endif
