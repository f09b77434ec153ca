/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of the default TVMPlatformMemoryAllocate. Only programs written for TVM's runtime need
 * it. The header is not in TVM, which declares the functions that allocate in platform.h, as here.
 */
#ifndef TVM_RUNTIME_CRT_PLATFORM_MEMORY_H_
#define TVM_RUNTIME_CRT_PLATFORM_MEMORY_H_

#include "tvm/runtime/crt/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the memory for TVMPlatformMemoryAllocate: all of `pool`, until the next call. */
tvm_crt_error_t TVMPlatformMemorySetPool(uint8_t *pool, size_t num_bytes);

#ifdef __cplusplus
}
#endif

#endif
