/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tables of a graph executor from the graph's text. */
#ifndef MICROGEN_GRAPH_TABLES_H
#define MICROGEN_GRAPH_TABLES_H

#include "executor/graph_json.h"
#include "tvm/runtime/crt/graph_executor_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The size of the tables: TVM_GRAPH_EXECUTOR_TABLE_BYTES of the counts. */
size_t mg_graph_table_bytes(const TVMGraphExecutorCounts *counts);

/* The node's kind: it calls nothing, calls a function of the module, or copies its input. */
enum {
    MG_GRAPH_NOTHING,
    MG_GRAPH_CALL,
    MG_GRAPH_COPY
};

/* Builds the executor of a graph that mg_graph_scan accepted: all tables, and the size of each
 * storage, but no memory for tensors. `memory` must be aligned and have mg_graph_table_bytes. */
tvm_crt_error_t mg_graph_build(uint8_t *memory, const mg_graph_parts *parts,
                               const TVMGraphExecutorCounts *counts, const TVMModule *module,
                               DLDevice device, TVMGraphExecutor **executor);

/* The bytes of one element, and of a whole tensor. mg_graph_build ensures that these are below
 * 2^31. */
uint32_t mg_graph_element_bytes(const DLTensor *tensor);
uint32_t mg_graph_tensor_bytes(const DLTensor *tensor);

bool mg_graph_is_same_dtype(DLDataType a, DLDataType b);

#ifdef __cplusplus
}
#endif

#endif
