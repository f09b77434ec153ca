/* SPDX-License-Identifier: Apache-2.0 */
/* A table of packed functions by name: the type, names and signatures of TVM v0.14. */
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
    /* The number of functions in two bytes, the low one first; their names, a NUL after each; one
     * NUL more: "\2\0first\0second\0". */
    const char *names;
    const TVMBackendPackedCFunc *funcs; /* in the order of names */
} TVMFuncRegistry;

/* Stores the index of the function of that name. kTvmErrorFunctionNameNotFound, and nothing stored,
 * if there is none; no more names are read than the registry says it has. */
tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry *reg, const char *name,
                                       tvm_function_index_t *function_index);

/* Stores the function. kTvmErrorFunctionIndexInvalid, and nothing stored, if there is none. */
tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry *reg, tvm_function_index_t index,
                                           TVMBackendPackedCFunc *out_func);

#ifdef __cplusplus
}
#endif

#endif
