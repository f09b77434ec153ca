/* SPDX-License-Identifier: Apache-2.0 */
/* The type of compiled operators, and the functions that they may call, with the names and
 * signatures of TVM v0.14. */
#ifndef TVM_RUNTIME_C_BACKEND_API_H_
#define TVM_RUNTIME_C_BACKEND_API_H_

#include "tvm/runtime/c_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A packed function. It returns 0 or an error code. `resource_handle` comes from the caller: it is
 * the context of the function's device or, for functions of a registry, the registry. */
typedef int (*TVMBackendPackedCFunc)(TVMValue *args, int *type_codes, int num_args,
                                     TVMValue *out_ret_value, int *out_ret_tcode,
                                     void *resource_handle);

/* Finds the function of that name in the module `mod_node`, or in any registered module if
 * `mod_node` is NULL. Returns kTvmErrorFunctionNameNotFound if there is none. packed_func.c
 * implements this. */
TVM_DLL int TVMBackendGetFuncFromEnv(void *mod_node, const char *func_name, TVMFunctionHandle *out);

/* Allocates memory that is valid until TVMBackendFreeWorkspace. Returns NULL if there is not enough
 * left. Blocks must be freed in the reverse order of allocation. The functions of platform_memory.c
 * are weak, so a program may define its own. */
TVM_DLL void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes,
                                       int dtype_code_hint, int dtype_bits_hint);
TVM_DLL int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr);

#ifdef __cplusplus
}
#endif

#endif
