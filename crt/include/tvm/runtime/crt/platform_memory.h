/* SPDX-License-Identifier: Apache-2.0 */
/* Memory at run time, which only programs written for TVM's runtime need. The two functions without
 * a remark are those of TVM v0.14, which declares them in platform.h. They are weak, so a program
 * may define its own. */
#ifndef TVM_RUNTIME_CRT_PLATFORM_MEMORY_H_
#define TVM_RUNTIME_CRT_PLATFORM_MEMORY_H_

#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the memory for the functions below: all of `pool`, until the next call. Not in TVM. */
tvm_crt_error_t TVMPlatformMemorySetPool(uint8_t *pool, size_t num_bytes);

/* Allocates memory aligned to TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES. Returns kTvmErrorPlatformNoMemory
 * if not enough of the pool is left, or if no pool was set. */
tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void **out_ptr);

/* Frees the block and all blocks allocated after it. Returns kTvmErrorPlatformStackAllocBadFree if
 * `ptr` does not point into memory that is in use. */
tvm_crt_error_t TVMPlatformMemoryFree(void *ptr, DLDevice dev);

#ifdef __cplusplus
}
#endif

#endif
