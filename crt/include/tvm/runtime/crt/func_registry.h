/* SPDX-License-Identifier: Apache-2.0 */
/* A table of packed functions and their names, with the type, names and signatures of TVM v0.14. */
#ifndef TVM_RUNTIME_CRT_FUNC_REGISTRY_H_
#define TVM_RUNTIME_CRT_FUNC_REGISTRY_H_

#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint16_t tvm_function_index_t;
typedef uint16_t tvm_module_index_t;

typedef struct TVMFuncRegistry {
    /* The number of functions in two bytes, the low byte first, then their names with a NUL after
     * each, and a final NUL: "\2\0first\0second\0". */
    const char *names;
    const TVMBackendPackedCFunc *funcs; /* in the order of names */
} TVMFuncRegistry;

/* Stores the index of the function of that name. Returns kTvmErrorFunctionNameNotFound and stores
 * nothing if there is none. Reads no more names than the registry's number of functions. */
tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry *reg, const char *name,
                                       tvm_function_index_t *function_index);

/* Stores the function at that index. Returns kTvmErrorFunctionIndexInvalid and stores nothing if
 * there is none. */
tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry *reg, tvm_function_index_t index,
                                           TVMBackendPackedCFunc *out_func);

#ifdef __cplusplus
}
#endif

#endif
