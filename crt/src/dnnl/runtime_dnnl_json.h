/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of type "dnnl_json": a graph in TVM's JSON format, written by its codegen for DNNL and
 * computed by microgen's kernels. module_types.h describes the loader's functions.
 *
 * The payload is a symbol, the text of the graph, and the names of its constants. All tensors are
 * float32. Supported are nn.conv2d, nn.dense, nn.batch_matmul, add, multiply, nn.batch_norm (its
 * first output), nn.max_pool2d, nn.avg_pool2d and their global forms, nn.softmax, nn.relu,
 * nn.leaky_relu, tanh, sigmoid, clip, abs, exp, log, sqrt, and dnnl.conv2d and dnnl.dense, followed
 * by _bias, _sum and one of _relu, _tanh, _sigmoid, _clip and _swish. A module has one function,
 * number 0.
 *
 * Code for a Cortex-M4 with FPU (-Os): 16.4 KB, JSON reader and kernels included; no data. */
#ifndef MICROGEN_RUNTIME_DNNL_JSON_H
#define MICROGEN_RUNTIME_DNNL_JSON_H

#include "modules/module_blob.h"

MG_EXTERN tvm_crt_error_t mg_dnnl_json_load(mg_stream *payload, mg_pool *pool, void **module);
MG_EXTERN tvm_crt_error_t mg_dnnl_json_find(const void *module, mg_text symbol, uint32_t *function);
MG_EXTERN tvm_crt_error_t mg_dnnl_json_init(void *module, uint32_t function, uint32_t index,
                                            mg_text name, const DLTensor *constant);
MG_EXTERN tvm_crt_error_t mg_dnnl_json_run(void *module, uint32_t function,
                                           const mg_module_call *call);

#endif
