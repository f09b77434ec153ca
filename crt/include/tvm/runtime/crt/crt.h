/* SPDX-License-Identifier: Apache-2.0 */
/* The initialisation of a program that uses handles, with the name of TVM v0.14. */
#ifndef TVM_RUNTIME_CRT_CRT_H_
#define TVM_RUNTIME_CRT_CRT_H_

#include "tvm/runtime/crt/error_codes.h"
#include "tvm/runtime/crt/platform_memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Removes all registered modules. Call it after TVMPlatformInitialize. It needs no memory. */
tvm_crt_error_t TVMInitializeRuntime(void);

#ifdef __cplusplus
}
#endif

#endif
