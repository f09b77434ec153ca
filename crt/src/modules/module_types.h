/* SPDX-License-Identifier: Apache-2.0 */
/* What modules of a firmware consist of, and what their types bring to load and run them. */
#ifndef MICROGEN_MODULE_TYPES_H
#define MICROGEN_MODULE_TYPES_H

#include "dlpack/dlpack.h"
#include "modules/module_pool.h"
#include "modules/module_stream.h"
#include "tvm/runtime/crt/error_codes.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function of a module is called with: the inputs in order, then the outputs; DLTensors on
 * the host, compact. `workspace` is for what lives no longer than the call, aligned to 16 bytes.
 * `device` is the context of the device that the module's target is, NULL for those without. */
typedef struct {
    const DLTensor *args;
    uint32_t num_args;
    uint8_t *workspace;
    size_t workspace_bytes;
    void *device;
} mg_module_call;

/* A type of modules.
 *
 * `load` reads a payload from the stream, to its end and no further, and makes a module of it in
 * the pool. `find` gives the number of a module's function `symbol`, or
 * kTvmErrorFunctionNameNotFound. `init` is `__init_<symbol>`, for one constant after the other:
 * `index` and `name` must be what the function itself names; the tensor must stay. `run` computes;
 * it checks the arguments' number, shapes and dtypes, that the constants are there, and the size of
 * the workspace before it writes. */
typedef tvm_crt_error_t (*mg_loader_load)(mg_stream *payload, mg_pool *pool, void **module);
typedef tvm_crt_error_t (*mg_loader_find)(const void *module, mg_text symbol, uint32_t *function);
typedef tvm_crt_error_t (*mg_loader_init)(void *module, uint32_t function, uint32_t index,
                                          mg_text name, const DLTensor *constant);
typedef tvm_crt_error_t (*mg_loader_run)(void *module, uint32_t function,
                                         const mg_module_call *call);

/* The loaders of a firmware, which its own sources define: entry i of each table is of one type.
 * Names are those of TVM's registry, "runtime.module.loadbinary_dnnl_json". The tables hold nothing
 * but functions, so that a stack analysis can read from the ELF who may be called. */
extern const uint32_t mg_loader_count;
extern const char *const mg_loader_names[];
extern const mg_loader_load mg_loader_loads[];
extern const mg_loader_find mg_loader_finds[];
extern const mg_loader_init mg_loader_inits[];
extern const mg_loader_run mg_loader_runs[];

/* What a module is that no loader of the tables makes. */
typedef enum {
    kMgModuleLibrary = -1,    /* "_lib": the firmware itself */
    kMgModuleConstLoader = -2 /* "const_loader", or as older blobs have it "metadata" */
} mg_module_kind;

typedef struct {
    int32_t loader;       /* the number of its loader, or an mg_module_kind */
    uint32_t first_child; /* of `children` */
    uint32_t num_children;
    uint32_t importer;   /* where a search came from */
    uint32_t next_child; /* where it goes next */
    void *state;         /* what its loader made */
    mg_stream payload;   /* of a const loader: its symbols, and the names of their constants */
} mg_module;

typedef struct {
    mg_module *modules; /* the root first */
    uint32_t *children; /* numbers of modules */
    uint32_t num_modules;
} mg_modules;

/* What mg_modules_load takes of a pool for a blob of so many modules and imports, beside what the
 * loaders take: a constant expression. A module has 36 bytes where pointers have 4, and 56 where
 * they have 8; two more than there are give room to a blob without "_import_tree". Such a blob, of
 * the modules 1 to n that are all imports of the library, takes two modules less. */
#define MG_MODULES_POOL_BYTES(num_modules, num_children)                                           \
    (MG_POOL_ALIGNED(((num_modules) + (size_t)2U) * sizeof(mg_module)) +                           \
     MG_POOL_ALIGNED((size_t)(num_children) * sizeof(uint32_t)))

#ifdef __cplusplus
}
#endif

#endif
