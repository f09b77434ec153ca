/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of a graph in TVM's format for graph executors: its parts and its nodes.
 *
 * {"nodes": [...], "arg_nodes": [...], "heads": [...], "attrs": {...}, "node_row_ptr": [...]}, in
 * any order. As in TVM's C runtime, "metadata" is skipped and other keys are refused, in nodes,
 * too. Attributes of operators without a meaning here are skipped. */
#ifndef MICROGEN_GRAPH_JSON_H
#define MICROGEN_GRAPH_JSON_H

#include "tvm/runtime/crt/graph_executor_types.h"
#include "json/json_keys.h"

#ifdef __cplusplus
extern "C" {
#endif

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
tvm_crt_error_t mg_graph_scan(const char *text, size_t length, mg_graph_parts *parts,
                              TVMGraphExecutorCounts *counts);

/* Reads one node. The reader fails if the node is malformed. Returns
 * kTvmErrorExecutorGraphUnsupported if it is not supported. */
tvm_crt_error_t mg_graph_read_node(mg_json *json, mg_graph_json_node *node);

/* Reads the name of a data type, such as "int8", "float32" or "bool". Returns false for unknown
 * names. */
bool mg_graph_dtype(const mg_text *text, DLDataType *dtype);

#ifdef __cplusplus
}
#endif

#endif
