/* SPDX-License-Identifier: Apache-2.0 */
/* The modules of a firmware besides its own code, out of the blob `__tvm_dev_mblob` that TVM's
 * export_library writes: a tree of modules, each in the form of its type, found by symbol and run.
 *
 * The blob stays where it is, in read-only memory; what is made of its modules lies in a pool. */
#ifndef MICROGEN_MODULE_BLOB_H
#define MICROGEN_MODULE_BLOB_H

#include "dlpack/dlpack.h"
#include "modules/module_pool.h"
#include "modules/module_stream.h"
#include "modules/module_types.h"
#include "tvm/runtime/crt/error_codes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t module;
    uint32_t function; /* of the module */
    bool is_init;      /* "__init_<symbol>" */
} mg_module_function;

/* A constant of the firmware by the name that modules have for it. */
typedef struct {
    const char *name;
    DLTensor tensor;
} mg_module_constant;

/* Makes modules of a blob of exactly `nbytes` bytes, which must stay. An error leaves none.
 * kTvmErrorExecutorGraphMalformed for what is no blob, kTvmErrorExecutorGraphUnsupported for a type
 * without loader, kTvmErrorPlatformNoMemory if the pool is too small, or what a loader returns. */
tvm_crt_error_t mg_modules_load(const uint8_t *blob, size_t nbytes, mg_pool *pool,
                                mg_modules *modules);

/* The function `name` of a module or, with `query_imports`, of the modules that it imports: its own
 * first, then depth first its imports' in order. A const loader has the functions of the modules
 * that it imports for its own. kTvmErrorFunctionNameNotFound, kTvmErrorFunctionIndexInvalid for no
 * module, or what a loader returns. One search at a time: it leaves marks in the modules. */
tvm_crt_error_t mg_modules_get_function(const mg_modules *modules, uint32_t module, mg_text name,
                                        bool query_imports, mg_module_function *function);

/* Finds `symbol` from the root, and calls its `__init_<symbol>` with the constants that the blob's
 * const loader names for it, which must be among `constants`, else
 * kTvmErrorExecutorModuleNoSuchInput: arrays inside the blob are not used. Where the blob has no
 * const loader, or that does not list the symbol, it has none. */
tvm_crt_error_t mg_modules_init(mg_modules *modules, const char *symbol,
                                const mg_module_constant *constants, uint32_t count,
                                mg_module_function *function);

/* The same for each of several symbols, up to the first error. */
tvm_crt_error_t mg_modules_init_all(mg_modules *modules, const char *const *symbols,
                                    uint32_t num_symbols, const mg_module_constant *constants,
                                    uint32_t num_constants, mg_module_function *functions);

/* kTvmErrorFunctionIndexInvalid for no function of a loader's module,
 * kTvmErrorFunctionCallNotImplemented for an "__init_<symbol>", or what the loader returns. */
tvm_crt_error_t mg_modules_run(const mg_modules *modules, mg_module_function function,
                               const mg_module_call *call);

#ifdef __cplusplus
}
#endif

#endif
