/* SPDX-License-Identifier: Apache-2.0 */
/* The modules of a firmware in addition to its own code. They come from the blob `__tvm_dev_mblob`
 * that TVM's export_library writes, which is a tree of modules, each in the format of its type.
 * Functions are found by symbol and then run.
 *
 * The blob remains in read-only memory. The loaded modules are in a pool. */
#ifndef MICROGEN_MODULE_BLOB_H
#define MICROGEN_MODULE_BLOB_H

#include "dlpack/dlpack.h"
#include "modules/module_pool.h"
#include "modules/module_stream.h"
#include "modules/module_types.h"
#include "tvm/runtime/crt/error_codes.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    uint32_t module;
    uint32_t function; /* of the module */
    bool is_init;      /* "__init_<symbol>" */
} mg_module_function;

/* A constant of the firmware, with its name in the modules. */
typedef struct {
    const char *name;
    DLTensor tensor;
} mg_module_constant;

/* Loads the modules of a blob of exactly `nbytes` bytes, which must remain valid. After an error
 * there are no modules. Errors: kTvmErrorExecutorGraphMalformed for an invalid blob,
 * kTvmErrorExecutorGraphUnsupported for a type without a loader, kTvmErrorPlatformNoMemory if the
 * pool is too small, and those of loaders. */
MG_EXTERN tvm_crt_error_t mg_modules_load(const uint8_t *blob, size_t nbytes, mg_pool *pool,
                                          mg_modules *modules);

/* Finds the function `name` of a module or, with `query_imports`, of its imports: first in the
 * module itself, then depth first in its imports, in order. The functions of modules that a const
 * loader imports are treated as its own. Errors: kTvmErrorFunctionNameNotFound,
 * kTvmErrorFunctionIndexInvalid for an invalid module number, and those of loaders. It marks
 * modules while it searches, so searches must not run concurrently. */
MG_EXTERN tvm_crt_error_t mg_modules_get_function(const mg_modules *modules, uint32_t module,
                                                  mg_text name, bool query_imports,
                                                  mg_module_function *function);

/* Finds `symbol` from the root, and calls its `__init_<symbol>` for each constant that the blob's
 * const loader lists for it. If the blob has no const loader, or the const loader does not list the
 * symbol, there are no constants. All of them must be among `constants`, because arrays inside the
 * blob are not used; otherwise it returns kTvmErrorExecutorModuleNoSuchInput. */
MG_EXTERN tvm_crt_error_t mg_modules_init(mg_modules *modules, const char *symbol,
                                          const mg_module_constant *constants, uint32_t count,
                                          mg_module_function *function);

/* The same for each of several symbols, up to the first error. */
MG_EXTERN tvm_crt_error_t mg_modules_init_all(mg_modules *modules, const char *const *symbols,
                                              uint32_t num_symbols,
                                              const mg_module_constant *constants,
                                              uint32_t num_constants,
                                              mg_module_function *functions);

/* Runs a function. Returns kTvmErrorFunctionIndexInvalid if it is not a function of a loader's
 * module, kTvmErrorFunctionCallNotImplemented for an "__init_<symbol>", or what the loader
 * returns. */
MG_EXTERN tvm_crt_error_t mg_modules_run(const mg_modules *modules, mg_module_function function,
                                         const mg_module_call *call);

#endif
