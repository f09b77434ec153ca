/* SPDX-License-Identifier: Apache-2.0 */
/* What compiled operators are, and what they may call: names and signatures of TVM v0.14. */
#ifndef TVM_RUNTIME_C_BACKEND_API_H_
#define TVM_RUNTIME_C_BACKEND_API_H_

#include "tvm/runtime/c_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A packed function: 0, or what went wrong. `resource_handle` is what its caller hands on: the
 * context of the function's device, or for functions of a registry the registry. */
typedef int (*TVMBackendPackedCFunc)(TVMValue *args, int *type_codes, int num_args,
                                     TVMValue *out_ret_value, int *out_ret_tcode,
                                     void *resource_handle);

/* The function of that name in the module `mod_node`, or in any registered one where `mod_node` is
 * NULL. kTvmErrorFunctionNameNotFound. packed_func.c implements it. */
TVM_DLL int TVMBackendGetFuncFromEnv(void *mod_node, const char *func_name, TVMFunctionHandle *out);

/* Memory that lives until TVMBackendFreeWorkspace, which must be called in the opposite order;
 * NULL where there is none left. platform_memory.c implements both. */
TVM_DLL void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes,
                                       int dtype_code_hint, int dtype_bits_hint);
TVM_DLL int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr);

#ifdef __cplusplus
}
#endif

#endif
