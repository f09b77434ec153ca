/* SPDX-License-Identifier: Apache-2.0 */
/* TVM's C runtime interface: the types of the packed calling convention, and the functions that
 * find and call packed functions. Names and signatures are those of TVM v0.14; what is not here is
 * not supported. crt/src/module.c and packed_func.c implement the functions. */
#ifndef TVM_RUNTIME_C_RUNTIME_API_H_
#define TVM_RUNTIME_C_RUNTIME_API_H_

#include <dlpack/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TVM_WEAK
#define TVM_WEAK __attribute__((weak))
#endif
#ifndef TVM_DLL
#define TVM_DLL __attribute__((visibility("default")))
#endif

typedef int64_t tvm_index_t;

/* What a TVMValue holds. */
typedef enum {
    kTVMArgInt = kDLInt,
    kTVMArgFloat = kDLFloat,
    kTVMOpaqueHandle = 3,
    kTVMNullptr = 4,
    kTVMDataType = 5,
    kDLDevice = 6,
    kTVMDLTensorHandle = 7,
    kTVMObjectHandle = 8,
    kTVMModuleHandle = 9,
    kTVMPackedFuncHandle = 10,
    kTVMStr = 11,
    kTVMBytes = 12,
    kTVMNDArrayHandle = 13,
    kTVMObjectRValueRefArg = 14
} TVMArgTypeCode;

typedef union {
    int64_t v_int64;
    double v_float64;
    void *v_handle;
    const char *v_str;
    DLDataType v_type;
    DLDevice v_device;
} TVMValue;

typedef struct {
    const char *data;
    size_t size;
} TVMByteArray;

typedef DLTensor *TVMArrayHandle;
typedef void *TVMModuleHandle;
typedef void *TVMFunctionHandle;
typedef void *TVMRetValueHandle;

/* Keeps the first bytes of `msg` for TVMGetLastError. */
TVM_DLL void TVMAPISetLastError(const char *msg);

/* The message kept last, "" if there is none. The runtime itself sets none: it returns codes. */
TVM_DLL const char *TVMGetLastError(void);

/* The function of that name in the module. `query_imports` has no meaning: nothing imports.
 * kTvmErrorFunctionNameNotFound, kTvmErrorExecutorModuleBadContext for a bad handle. */
TVM_DLL int TVMModGetFunction(TVMModuleHandle mod, const char *func_name, int query_imports,
                              TVMFunctionHandle *out);

/* Forgets the module: its handle and those of its functions are bad from now on. */
TVM_DLL int TVMModFree(TVMModuleHandle mod);

/* Does nothing: functions are never allocated. */
TVM_DLL int TVMFuncFree(TVMFunctionHandle func);

/* Calls a function; `ret_val` and `ret_type_code` start as a null pointer. What the function
 * returns, or kTvmErrorFunctionIndexInvalid for a bad handle. */
TVM_DLL int TVMFuncCall(TVMFunctionHandle func, TVMValue *arg_values, int *type_codes, int num_args,
                        TVMValue *ret_val, int *ret_type_code);

/* The global function of that name, or NULL: there is one, "runtime.SystemLib", which returns the
 * handle of the module that TVMSystemLibEntryPoint names. */
TVM_DLL int TVMFuncGetGlobal(const char *name, TVMFunctionHandle *out);

#ifdef __cplusplus
}
#endif

#endif
