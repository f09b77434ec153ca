/* SPDX-License-Identifier: Apache-2.0 */
/* Which module imports which. Imports come after their importers, so that there are no cycles, and
 * all modules are imports of the first, or of its imports, and so on. */
#ifndef MICROGEN_MODULE_TREE_H
#define MICROGEN_MODULE_TREE_H

#include "modules/module_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "_import_tree": where each module's imports begin in the list of all, and that list, which is
 * made in the pool. */
tvm_crt_error_t mg_module_tree_read(mg_stream *stream, mg_pool *pool, mg_modules *modules);

/* That of a blob without one, as TVM wrote them once: the first of the modules is made the library,
 * and imports all others. */
tvm_crt_error_t mg_module_tree_default(mg_pool *pool, mg_modules *modules);

#ifdef __cplusplus
}
#endif

#endif
