/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: registries that are identified by a handle. The type and the names are those of TVM
 * v0.14; two functions are not in TVM. */
#ifndef TVM_RUNTIME_CRT_MODULE_H_
#define TVM_RUNTIME_CRT_MODULE_H_

#include "crt_config.h"
#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/crt/func_registry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TVMModule {
    const TVMFuncRegistry *registry;
} TVMModule;

/* Registers the module, which must outlive its handle. Returns
 * kTvmErrorExecutorModuleAlreadyCreated if there are already TVM_CRT_MAX_REGISTERED_MODULES. */
int TVMModCreateFromCModule(const TVMModule *mod, TVMModuleHandle *out_handle);

/* The module of the operators that are linked into the firmware. It is generated. */
const TVMModule *TVMSystemLibEntryPoint(void);

/* The module of a handle, or NULL if the handle is invalid. Not in TVM. */
const TVMModule *TVMModule_OfHandle(TVMModuleHandle handle);

/* Removes all modules. Not in TVM. */
void TVMModule_FreeAll(void);

#ifdef __cplusplus
}
#endif

#endif
