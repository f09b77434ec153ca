/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm/runtime/crt/packed_func.h"

#include <string.h>

#define LAST_ERROR_BYTES 64U

/* Weak, because a program without a system library may use packed functions, too. */
extern const TVMModule *TVMSystemLibEntryPoint(void) __attribute__((weak));

static char last_error[LAST_ERROR_BYTES];

void TVMAPISetLastError(const char *msg)
{
    uint32_t i;

    for (i = 0U; i + 1U < LAST_ERROR_BYTES && msg[i] != '\0'; i++) {
        last_error[i] = msg[i];
    }
    last_error[i] = '\0';
}

const char *TVMGetLastError(void)
{
    return last_error;
}

/* Returns an ordinary handle, which can be freed and requested again. */
static int system_lib(TVMValue *args, int *type_codes, int num_args, TVMValue *ret_value,
                      int *ret_tcode, void *resource_handle)
{
    static TVMModuleHandle handle;
    const TVMModule *module = TVMSystemLibEntryPoint != NULL ? TVMSystemLibEntryPoint() : NULL;
    int error = kTvmErrorNoError;

    (void)args;
    (void)type_codes;
    (void)num_args;
    (void)resource_handle;
    if (module == NULL) {
        return kTvmErrorFunctionNameNotFound;
    }
    if (TVMModule_OfHandle(handle) != module) {
        error = TVMModCreateFromCModule(module, &handle);
    }
    ret_value->v_handle = handle;
    *ret_tcode = kTVMModuleHandle;
    return error;
}

static const TVMBackendPackedCFunc global_functions[] = {system_lib};
static const TVMFuncRegistry globals = {"\1\0runtime.SystemLib\0", global_functions};

/* The handle of a global function has this bit instead of a module in its upper half. */
#define GLOBAL_BIT 0x8000U

int TVMFuncGetGlobal(const char *name, TVMFunctionHandle *out)
{
    tvm_function_index_t index = 0U;

    *out = NULL;
    if (TVMFuncRegistry_Lookup(&globals, name, &index) == kTvmErrorNoError) {
        *out = (TVMFunctionHandle)(uintptr_t)(index | GLOBAL_BIT);
    }
    return kTvmErrorNoError;
}

int TVMFuncFree(TVMFunctionHandle func)
{
    (void)func;
    return kTvmErrorNoError;
}

int TVMFuncCall(TVMFunctionHandle func, TVMValue *arg_values, int *type_codes, int num_args,
                TVMValue *ret_val, int *ret_type_code)
{
    const uintptr_t bits = (uintptr_t)func;
    const TVMModule *module = TVMModule_OfHandle((TVMModuleHandle)(bits >> 16));
    const TVMFuncRegistry *registry = NULL;
    TVMBackendPackedCFunc called = NULL;

    if (module != NULL) {
        registry = module->registry;
    } else if (bits >> 16 == 0U && (bits & GLOBAL_BIT) != 0U) {
        registry = &globals;
    }
    if (registry == NULL ||
        TVMFuncRegistry_GetByIndex(
            registry, (tvm_function_index_t)(module != NULL ? bits & 0xffffU : bits & 0x7fffU),
            &called) != kTvmErrorNoError) {
        return kTvmErrorFunctionIndexInvalid;
    }
    ret_val->v_handle = NULL;
    *ret_type_code = kTVMNullptr;
    return called(arg_values, type_codes, num_args, ret_val, ret_type_code, (void *)registry);
}

int TVMBackendGetFuncFromEnv(void *mod_node, const char *func_name, TVMFunctionHandle *out)
{
    uintptr_t i;
    int error = kTvmErrorFunctionNameNotFound;

    if (mod_node != NULL) {
        return TVMModGetFunction(mod_node, func_name, 0, out);
    }
    for (i = 0U; i < TVM_CRT_MAX_REGISTERED_MODULES && error != kTvmErrorNoError; i++) {
        error = TVMModGetFunction((TVMModuleHandle)(i | 0x8000U), func_name, 0, out);
    }
    return error == kTvmErrorNoError ? kTvmErrorNoError : kTvmErrorFunctionNameNotFound;
}

TVMArgs TVMArgs_Create(TVMValue *values, uint32_t *tcodes, uint32_t values_count)
{
    TVMArgs args;
    uint32_t i;

    (void)memset(&args, 0, sizeof(args));
    args.values_count = values_count < TVM_CRT_MAX_ARGS ? values_count : TVM_CRT_MAX_ARGS;
    for (i = 0U; i < args.values_count; i++) {
        args.values[i] = values[i];
        args.tcodes[i] = (int)tcodes[i];
    }
    return args;
}

TVMModuleHandle TVMArgs_AsModuleHandle(const TVMArgs *args, size_t index)
{
    if (index >= args->values_count || args->tcodes[index] != kTVMModuleHandle) {
        return NULL;
    }
    return args->values[index].v_handle;
}

void TVMPackedFunc_SetArgs(TVMPackedFunc *pf, const TVMArgs *args)
{
    pf->args = *args;
}

static void prepare(TVMPackedFunc *pf, const TVMArgs *args)
{
    (void)memset(pf, 0, sizeof(*pf));
    pf->Call = TVMPackedFunc_Call;
    pf->SetArgs = TVMPackedFunc_SetArgs;
    TVMPackedFunc_SetArgs(pf, args);
}

int TVMPackedFunc_InitGlobalFunc(TVMPackedFunc *pf, const char *name, const TVMArgs *args)
{
    prepare(pf, args);
    (void)TVMFuncGetGlobal(name, &pf->fexec);
    return pf->fexec != NULL ? kTvmErrorNoError : kTvmErrorFunctionNameNotFound;
}

int TVMPackedFunc_InitModuleFunc(TVMPackedFunc *pf, TVMModuleHandle module, const char *name,
                                 const TVMArgs *args)
{
    prepare(pf, args);
    return TVMModGetFunction(module, name, 0, &pf->fexec);
}

int TVMPackedFunc_Call(TVMPackedFunc *pf)
{
    pf->ret_value.values_count = 1U;
    return TVMFuncCall(pf->fexec, pf->args.values, pf->args.tcodes, (int)pf->args.values_count,
                       pf->ret_value.values, pf->ret_value.tcodes);
}
