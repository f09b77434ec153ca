/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the graph executor, each in a source of its name. */
#ifndef MICROGEN_GRAPH_PARTS_H
#define MICROGEN_GRAPH_PARTS_H

#include "tvm/runtime/crt/graph_executor_types.h"
#include "json/json_keys.h"

#include <stdbool.h>

/* Reads the text of a graph in TVM's format for graph executors: its parts and its nodes.
 *
 * {"nodes": [...], "arg_nodes": [...], "heads": [...], "attrs": {...}, "node_row_ptr": [...]}, in
 * any order. As in TVM's C runtime, "metadata" is skipped and other keys are refused, in nodes,
 * too. Attributes of operators without a meaning here are skipped. */

/* Longer texts are not supported. The bound keeps every count, and every size computed from counts,
 * below 2^31, because an item takes at least two characters and at most 64 bytes of tables. */
#define MG_GRAPH_MAX_TEXT (1UL << 24)

/* Readers, each positioned at the array of that name; those of "attrs" at the list after its
 * type. */
typedef struct {
    mg_json nodes;
    mg_json arg_nodes;
    mg_json heads;
    mg_json node_row_ptr;
    mg_json dltype;
    mg_json shape;
    mg_json storage_id;
} mg_graph_parts;

typedef struct {
    mg_text name;
    mg_text function; /* empty for an input */
    mg_json inputs;   /* at the array */
    uint32_t num_inputs;
    uint32_t num_outputs; /* 1 for an input */
} mg_graph_json_node;

/* Finds the parts and counts their items. After success the text is valid JSON, each node is well
 * formed, and the lists of "attrs" and "node_row_ptr" have the lengths that follow from the nodes.
 * References to nodes are not checked. */
MG_EXTERN tvm_crt_error_t mg_graph_scan(const char *text, size_t length, mg_graph_parts *parts,
                                        TVMGraphExecutorCounts *counts);

/* Reads one node. The reader fails if the node is malformed. Returns
 * kTvmErrorExecutorGraphUnsupported if it is not supported. */
MG_EXTERN tvm_crt_error_t mg_graph_read_node(mg_json *json, mg_graph_json_node *node);

/* Reads the name of a data type, such as "int8", "float32" or "bool". Returns false for unknown
 * names. */
MG_EXTERN bool mg_graph_dtype(const mg_text *text, DLDataType *dtype);

/* Builds the tables of a graph executor from the graph's text. */

/* The size of the tables: TVM_GRAPH_EXECUTOR_TABLE_BYTES of the counts. */
MG_EXTERN size_t mg_graph_table_bytes(const TVMGraphExecutorCounts *counts);

/* The node's kind: it calls nothing, calls a function of the module, or copies its input. */
enum {
    MG_GRAPH_NOTHING,
    MG_GRAPH_CALL,
    MG_GRAPH_COPY
};

/* Builds the executor of a graph that mg_graph_scan accepted: all tables, and the size of each
 * storage, but no memory for tensors. `memory` must be aligned and have mg_graph_table_bytes. */
MG_EXTERN tvm_crt_error_t mg_graph_build(uint8_t *memory, const mg_graph_parts *parts,
                                         const TVMGraphExecutorCounts *counts,
                                         const TVMModule *module, DLDevice device,
                                         TVMGraphExecutor **executor);

/* The bytes of one element, and of a whole tensor. mg_graph_build ensures that these are below
 * 2^31. */
MG_EXTERN uint32_t mg_graph_element_bytes(const DLTensor *tensor);
MG_EXTERN uint32_t mg_graph_tensor_bytes(const DLTensor *tensor);

MG_EXTERN bool mg_graph_is_same_dtype(DLDataType a, DLDataType b);

/* The memory of the tensors of a graph executor. */

/* The number of bytes for the tensors of all storages, or only of those that nodes write. SIZE_MAX
 * if the number is greater. */
MG_EXTERN size_t mg_graph_memory_bytes(const TVMGraphExecutor *executor, bool all);

/* Gives memory to the executor, once, and places the storages that nodes write in it. The rest is
 * for mg_graph_copy_in. Returns kTvmErrorPlatformNoMemory if it is too small. */
MG_EXTERN tvm_crt_error_t mg_graph_give(TVMGraphExecutor *executor, uint8_t *memory, size_t nbytes);

/* Copies the data of the input `entry` to memory that the executor owns. Returns
 * kTvmErrorPlatformNoMemory if the input has no such memory yet and not enough is left. */
MG_EXTERN tvm_crt_error_t mg_graph_copy_in(TVMGraphExecutor *executor, uint32_t entry,
                                           const uint8_t *data);

/* Whether the input may use the caller's memory: no node writes to its storage, and no tensor that
 * shares the storage is larger. */
MG_EXTERN bool mg_graph_can_alias(const TVMGraphExecutor *executor, uint32_t entry);

/* Whether `data` has the alignment that all tensors in the input's storage need. */
MG_EXTERN bool mg_graph_is_aligned(const TVMGraphExecutor *executor, uint32_t entry,
                                   const uint8_t *data);

/* Places the input, and all tensors that share its storage, at `data`. Memory that it owned remains
 * unused. */
MG_EXTERN void mg_graph_alias(TVMGraphExecutor *executor, uint32_t entry, uint8_t *data);

/* Implements TVMGraphExecutor_LoadParams. */
MG_EXTERN tvm_crt_error_t mg_graph_load_params(TVMGraphExecutor *executor, const uint8_t *data,
                                               size_t size);

#endif
