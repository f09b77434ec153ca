/* SPDX-License-Identifier: Apache-2.0 */
/* TVM's C runtime interface: the types of the packed calling convention, and the functions that
 * find and call packed functions. Names and signatures are those of TVM v0.14. Functions that are
 * not here are not supported. crt/src/module.c and packed_func.c implement the functions. */
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

#ifndef TVM_ATTRIBUTE_UNUSED
#define TVM_ATTRIBUTE_UNUSED __attribute__((unused))
#endif

/* The version of TVM whose names these headers have. */
#define TVM_VERSION "0.14.0"

typedef int64_t tvm_index_t;

/* TVM's device types in addition to DLPack's. */
typedef enum {
    kDLAOCL = 32,
    kDLSDAccel = 33,
    kOpenGL = 34,
    kDLMicroDev = 35
} TVMDeviceExtType;

/* The types that a TVMValue can contain. */
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
    kTVMObjectRValueRefArg = 14,
    /* For types of other libraries. No function here takes them. */
    kTVMExtBegin = 15,
    kTVMNNVMFirst = 16,
    kTVMNNVMLast = 20,
    kTVMExtReserveEnd = 64,
    kTVMExtEnd = 128
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
typedef void *TVMStreamHandle;
typedef void *TVMObjectHandle;

/* The type of packed functions that a front end registers. Functions of a registry have the type
 * TVMBackendPackedCFunc (c_backend_api.h). */
typedef int (*TVMPackedCFunc)(TVMValue *args, int *type_codes, int num_args, TVMRetValueHandle ret,
                              void *resource_handle);

/* Stores the first bytes of `msg` for TVMGetLastError. */
TVM_DLL void TVMAPISetLastError(const char *msg);

/* The last message stored, "" if there is none. The runtime itself stores none, because it returns
 * codes. */
TVM_DLL const char *TVMGetLastError(void);

/* Finds the function of that name in the module. `query_imports` is ignored, because these modules
 * import nothing. Returns kTvmErrorFunctionNameNotFound if there is none, or
 * kTvmErrorExecutorModuleBadContext for an invalid handle. */
TVM_DLL int TVMModGetFunction(TVMModuleHandle mod, const char *func_name, int query_imports,
                              TVMFunctionHandle *out);

/* Removes the module. Its handle and those of its functions become invalid. */
TVM_DLL int TVMModFree(TVMModuleHandle mod);

/* Does nothing, because functions are never allocated. */
TVM_DLL int TVMFuncFree(TVMFunctionHandle func);

/* Calls a function after setting the return value to a null pointer. Returns the function's status,
 * or kTvmErrorFunctionIndexInvalid for an invalid handle. */
TVM_DLL int TVMFuncCall(TVMFunctionHandle func, TVMValue *arg_values, int *type_codes, int num_args,
                        TVMValue *ret_val, int *ret_type_code);

/* Stores the global function of that name, or NULL if there is none, and returns 0. The only one is
 * "runtime.SystemLib". It returns the handle of the module that TVMSystemLibEntryPoint returns. */
TVM_DLL int TVMFuncGetGlobal(const char *name, TVMFunctionHandle *out);

#ifdef __cplusplus
}
#endif

#endif
