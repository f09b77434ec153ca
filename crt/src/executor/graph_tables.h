/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a graph executor, from the graph's text. */
#ifndef MICROGEN_GRAPH_TABLES_H
#define MICROGEN_GRAPH_TABLES_H

#include "executor/graph_json.h"
#include "tvm/runtime/crt/graph_executor_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the tables take: TVM_GRAPH_EXECUTOR_TABLE_BYTES of the counts. */
size_t mg_graph_table_bytes(const TVMGraphExecutorCounts *counts);

/* The node's kind: nothing to call, a function of the module, a copy of the input. */
enum {
    MG_GRAPH_NOTHING,
    MG_GRAPH_CALL,
    MG_GRAPH_COPY
};

/* Makes the executor of a graph that mg_graph_scan has found good: all tables, and what each
 * storage needs, but no memory for tensors. `memory` is aligned and has mg_graph_table_bytes. */
tvm_crt_error_t mg_graph_build(uint8_t *memory, const mg_graph_parts *parts,
                               const TVMGraphExecutorCounts *counts, const TVMModule *module,
                               DLDevice device, TVMGraphExecutor **executor);

/* Bytes of one element, and of all of a tensor, which mg_graph_build has found to be under 2^31. */
uint32_t mg_graph_element_bytes(const DLTensor *tensor);
uint32_t mg_graph_tensor_bytes(const DLTensor *tensor);

bool mg_graph_is_same_dtype(DLDataType a, DLDataType b);

#ifdef __cplusplus
}
#endif

#endif
