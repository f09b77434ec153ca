/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: registries under a handle. Type and names of TVM v0.14, and two functions of our own. */
#ifndef TVM_RUNTIME_CRT_MODULE_H_
#define TVM_RUNTIME_CRT_MODULE_H_

#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/crt/func_registry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many modules can be registered at once. */
#ifndef TVM_CRT_MAX_REGISTERED_MODULES
#define TVM_CRT_MAX_REGISTERED_MODULES 4
#endif

typedef struct TVMModule {
    const TVMFuncRegistry *registry;
} TVMModule;

/* Registers the module, which must outlive its handle. kTvmErrorExecutorModuleAlreadyCreated if
 * there are TVM_CRT_MAX_REGISTERED_MODULES already. */
int TVMModCreateFromCModule(const TVMModule *mod, TVMModuleHandle *out_handle);

/* The module of the operators that are linked in; generated. */
const TVMModule *TVMSystemLibEntryPoint(void);

/* The module of a handle, NULL for a bad one. Not in TVM. */
const TVMModule *TVMModule_OfHandle(TVMModuleHandle handle);

/* Forgets all modules. Not in TVM. */
void TVMModule_FreeAll(void);

#ifdef __cplusplus
}
#endif

#endif
