/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm/runtime/crt/module.h"

/* A handle is an index with this bit set, so it is never NULL. A function's handle contains its
 * module's handle in the upper half. */
#define IS_HANDLE 0x8000U
#define INDEX 0x7fffU

static const TVMModule *modules[TVM_CRT_MAX_REGISTERED_MODULES];

int TVMModCreateFromCModule(const TVMModule *mod, TVMModuleHandle *out_handle)
{
    uint32_t i;

    for (i = 0U; i < TVM_CRT_MAX_REGISTERED_MODULES; i++) {
        if (modules[i] == NULL) {
            modules[i] = mod;
            *out_handle = (TVMModuleHandle)(uintptr_t)(i | IS_HANDLE);
            return kTvmErrorNoError;
        }
    }
    return kTvmErrorExecutorModuleAlreadyCreated;
}

const TVMModule *TVMModule_OfHandle(TVMModuleHandle handle)
{
    const uintptr_t index = (uintptr_t)handle ^ IS_HANDLE;

    return index < TVM_CRT_MAX_REGISTERED_MODULES ? modules[index] : NULL;
}

void TVMModule_FreeAll(void)
{
    uint32_t i;

    for (i = 0U; i < TVM_CRT_MAX_REGISTERED_MODULES; i++) {
        modules[i] = NULL;
    }
}

int TVMModFree(TVMModuleHandle mod)
{
    if (TVMModule_OfHandle(mod) == NULL) {
        return kTvmErrorExecutorModuleBadContext;
    }
    modules[(uintptr_t)mod & INDEX] = NULL;
    return kTvmErrorNoError;
}

int TVMModGetFunction(TVMModuleHandle mod, const char *func_name, int query_imports,
                      TVMFunctionHandle *out)
{
    const TVMModule *module = TVMModule_OfHandle(mod);
    tvm_function_index_t index = 0U;
    tvm_crt_error_t error;

    (void)query_imports;
    if (module == NULL) {
        return kTvmErrorExecutorModuleBadContext;
    }
    error = TVMFuncRegistry_Lookup(module->registry, func_name, &index);
    if (error == kTvmErrorNoError) {
        *out = (TVMFunctionHandle)((uintptr_t)mod << 16 | index);
    }
    return error;
}
