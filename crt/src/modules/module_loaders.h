/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware's loaders of modules, and the calls of their functions.
 *
 * Each call is a separate function that reads the table directly. So a stack analysis knows that
 * only the table's entries, which it reads from the ELF, can be called there. */
#ifndef MICROGEN_MODULE_LOADERS_H
#define MICROGEN_MODULE_LOADERS_H

#include "modules/module_types.h"

#define MG_LOADER_UNKNOWN UINT32_MAX

/* The number of the loader "runtime.module.loadbinary_<key>", or MG_LOADER_UNKNOWN. */
MG_EXTERN uint32_t mg_loader_of(mg_text key);

MG_EXTERN tvm_crt_error_t mg_loader_call_load(uint32_t loader, mg_stream *payload, mg_pool *pool,
                                              void **module);
MG_EXTERN tvm_crt_error_t mg_loader_call_find(uint32_t loader, const void *module, mg_text symbol,
                                              uint32_t *function);
MG_EXTERN tvm_crt_error_t mg_loader_call_init(uint32_t loader, void *module, uint32_t function,
                                              uint32_t index, mg_text name,
                                              const DLTensor *constant);
MG_EXTERN tvm_crt_error_t mg_loader_call_run(uint32_t loader, void *module, uint32_t function,
                                             const mg_module_call *call);

/* Whether the text equals a name that ends with a NUL. */
MG_EXTERN bool mg_text_is_name(mg_text text, const char *name);

#endif
