/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime of modules of type `examplejson`. TVM's guide "Bring Your Own Codegen" makes such a
 * module from text such as
 *
 *   subgraph_0
 *     input 0 10 10
 *     input 1 10 10
 *     add 2 inputs: 0 1 shape: 10 10
 *
 * A payload is one string, the text, which is not copied. Tensors are float32. A function takes its
 * inputs in the order of their lines, then its outputs. docs/reference/examplejson.md describes the
 * format. */
#ifndef MICROGEN_RUNTIME_EXAMPLEJSON_H
#define MICROGEN_RUNTIME_EXAMPLEJSON_H

#include "modules/module_blob.h"

/* TVM's LoadFromBinary. microgen/tvm/codegens/examplejson/sizes.py computes the bytes that it takes
 * from the pool. */
MG_EXTERN tvm_crt_error_t mg_examplejson_load(mg_stream *payload, mg_pool *pool, void **module);

MG_EXTERN tvm_crt_error_t mg_examplejson_find(const void *module, mg_text symbol,
                                              uint32_t *function);

/* Always returns kTvmErrorFunctionCallInvalidArg, because ExampleJSON has no constants. */
MG_EXTERN tvm_crt_error_t mg_examplejson_init(void *module, uint32_t function, uint32_t index,
                                              mg_text name, const DLTensor *constant);

/* Checks all arguments, like packed functions do, before it writes anything. */
MG_EXTERN tvm_crt_error_t mg_examplejson_run(void *module, uint32_t function,
                                             const mg_module_call *call);

/* TVM's GetSource: the text of a loaded module, in the payload. */
MG_EXTERN mg_text mg_examplejson_source(const void *module);

#endif
