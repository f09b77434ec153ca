/* SPDX-License-Identifier: Apache-2.0 */
/* The modules of a firmware, and the functions with which each type of modules loads and runs
 * them. */
#ifndef MICROGEN_MODULE_TYPES_H
#define MICROGEN_MODULE_TYPES_H

#include "dlpack/dlpack.h"
#include "modules/module_pool.h"
#include "modules/module_stream.h"
#include "tvm/runtime/crt/error_codes.h"

#include <stddef.h>

/* The arguments of a call of a module's function: the inputs in order, then the outputs, as compact
 * DLTensors on the host. `workspace` is for data that is not needed after the call; it is aligned
 * to 16 bytes. `device` is the context of the device of the module's target, or NULL if it has
 * none. */
typedef struct {
    const DLTensor *args;
    uint32_t num_args;
    uint8_t *workspace;
    size_t workspace_bytes;
    void *device;
} mg_module_call;

/* A type of modules.
 *
 * `load` reads exactly one payload from the stream and makes a module from it in the pool. `find`
 * gives the number of a module's function `symbol`, or returns kTvmErrorFunctionNameNotFound.
 * `init` is `__init_<symbol>`. It is called for each constant: `index` and `name` must be those of
 * the function's own list, and the tensor must remain valid. `run` runs a function. Before it
 * writes anything, it checks the number, shapes and dtypes of the arguments, that all constants are
 * set, and the size of the workspace. */
typedef tvm_crt_error_t (*mg_loader_load)(mg_stream *payload, mg_pool *pool, void **module);
typedef tvm_crt_error_t (*mg_loader_find)(const void *module, mg_text symbol, uint32_t *function);
typedef tvm_crt_error_t (*mg_loader_init)(void *module, uint32_t function, uint32_t index,
                                          mg_text name, const DLTensor *constant);
typedef tvm_crt_error_t (*mg_loader_run)(void *module, uint32_t function,
                                         const mg_module_call *call);

/* The loaders of a firmware. Its own sources define these tables, in which entry i belongs to type
 * i. Names are those of TVM's registry, for example "runtime.module.loadbinary_dnnl_json". The
 * other tables contain only functions, so a stack analysis can read from the ELF which functions
 * may be called. */
MG_EXTERN const uint32_t mg_loader_count;
MG_EXTERN const char *const mg_loader_names[];
MG_EXTERN const mg_loader_load mg_loader_loads[];
MG_EXTERN const mg_loader_find mg_loader_finds[];
MG_EXTERN const mg_loader_init mg_loader_inits[];
MG_EXTERN const mg_loader_run mg_loader_runs[];

/* The kinds of modules that no loader of the tables makes. */
typedef enum {
    kMgModuleLibrary = -1,    /* "_lib": the firmware itself */
    kMgModuleConstLoader = -2 /* "const_loader", or "metadata" in older blobs */
} mg_module_kind;

typedef struct {
    int32_t loader;       /* the number of its loader, or an mg_module_kind */
    uint32_t first_child; /* of `children` */
    uint32_t num_children;
    uint32_t importer;   /* the module from which a search came */
    uint32_t next_child; /* the import that a search visits next */
    void *state;         /* what its loader made */
    mg_stream payload;   /* of a const loader: its symbols, and the names of their constants */
} mg_module;

typedef struct {
    mg_module *modules; /* the root first */
    uint32_t *children; /* numbers of modules */
    uint32_t num_modules;
} mg_modules;

/* The bytes of a pool that mg_modules_load takes for a blob with these numbers of modules and
 * imports, as a constant expression. Loaders take additional bytes. A module has 36 bytes if
 * pointers have 4 bytes, and 56 if they have 8. The expression has room for two modules more, which
 * a blob without "_import_tree" may need. Such a blob, whose modules 1 to n are all imports of the
 * library, takes two modules fewer. */
#define MG_MODULES_POOL_BYTES(num_modules, num_children)                                           \
    (MG_POOL_ALIGNED(((num_modules) + (size_t)2U) * sizeof(mg_module)) +                           \
     MG_POOL_ALIGNED((size_t)(num_children) * sizeof(uint32_t)))

#endif
