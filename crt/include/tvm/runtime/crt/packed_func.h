/* SPDX-License-Identifier: Apache-2.0 */
/* Packed functions with their arguments, with the names of TVM v0.14. TVM's structure also holds
 * the function's name. */
#ifndef TVM_RUNTIME_CRT_PACKED_FUNC_H_
#define TVM_RUNTIME_CRT_PACKED_FUNC_H_

#include "crt_config.h"
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/module.h"
#include "tvm/runtime/crt/platform.h"
#include "tvm/runtime/crt/platform_memory.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TVMArgs {
    TVMValue values[TVM_CRT_MAX_ARGS];
    int tcodes[TVM_CRT_MAX_ARGS];
    uint32_t values_count;
} TVMArgs;

typedef struct TVMPackedFunc {
    TVMFunctionHandle fexec;
    TVMArgs args;
    TVMArgs ret_value; /* of the last call */
    int (*Call)(struct TVMPackedFunc *pf);
    void (*SetArgs)(struct TVMPackedFunc *pf, const struct TVMArgs *args);
} TVMPackedFunc;

/* Stores the first TVM_CRT_MAX_ARGS arguments. A function that gets too few arguments returns an
 * error. */
TVMArgs TVMArgs_Create(TVMValue *values, uint32_t *tcodes, uint32_t values_count);

/* The module handle at `index`, or NULL, which is an invalid handle, if there is none. */
TVMModuleHandle TVMArgs_AsModuleHandle(const TVMArgs *args, size_t index);

/* Prepares a call of a global function, or of a function of a module. Errors:
 * kTvmErrorFunctionNameNotFound, kTvmErrorExecutorModuleBadContext. */
int TVMPackedFunc_InitGlobalFunc(TVMPackedFunc *pf, const char *name, const TVMArgs *args);
int TVMPackedFunc_InitModuleFunc(TVMPackedFunc *pf, TVMModuleHandle module, const char *name,
                                 const TVMArgs *args);

void TVMPackedFunc_SetArgs(TVMPackedFunc *pf, const TVMArgs *args);

/* Calls the function and returns its status. */
int TVMPackedFunc_Call(TVMPackedFunc *pf);

#ifdef __cplusplus
}
#endif

#endif
