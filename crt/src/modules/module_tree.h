/* SPDX-License-Identifier: Apache-2.0 */
/* The import tree of modules. Imports come after their importers, so there are no cycles. All
 * modules are direct or indirect imports of the first one. */
#ifndef MICROGEN_MODULE_TREE_H
#define MICROGEN_MODULE_TREE_H

#include "modules/module_types.h"

/* Reads "_import_tree": the position of each module's imports in the list of all imports, and that
 * list, which is stored in the pool. */
MG_EXTERN tvm_crt_error_t mg_module_tree_read(mg_stream *stream, mg_pool *pool,
                                              mg_modules *modules);

/* Makes the tree of a blob without one, as older versions of TVM wrote them. The first module
 * becomes the library and imports all others. */
MG_EXTERN tvm_crt_error_t mg_module_tree_default(mg_pool *pool, mg_modules *modules);

#endif
