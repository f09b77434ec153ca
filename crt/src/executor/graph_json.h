/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a graph, in TVM's format for graph executors: where its parts are, and its nodes.
 *
 * {"nodes": [...], "arg_nodes": [...], "heads": [...], "attrs": {...}, "node_row_ptr": [...]}, in
 * any order. As in TVM's C runtime, "metadata" is skipped and other keys are refused, in nodes too;
 * attributes of operators that mean nothing here are skipped. */
#ifndef MICROGEN_GRAPH_JSON_H
#define MICROGEN_GRAPH_JSON_H

#include "tvm/runtime/crt/graph_executor_types.h"
#include "json/json_keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Longer texts are not supported. Keeps every count and every size that follows from one below
 * 2^31: an item takes two characters at least and no more than 64 bytes of tables. */
#define MG_GRAPH_MAX_TEXT (1UL << 24)

/* Readers, each at the array of that name; those of "attrs" at the list after its type. */
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

/* Finds the parts and counts what is in them. The text is valid JSON after this, each node is well
 * formed and the lists of "attrs" and "node_row_ptr" have the lengths that the nodes ask for; what
 * refers to nodes is not checked. */
tvm_crt_error_t mg_graph_scan(const char *text, size_t length, mg_graph_parts *parts,
                              TVMGraphExecutorCounts *counts);

/* One node. The reader fails if it is malformed; kTvmErrorExecutorGraphUnsupported if it is not
 * supported. */
tvm_crt_error_t mg_graph_read_node(mg_json *json, mg_graph_json_node *node);

/* "int8", "uint8", "float32", "bool", ...: false for others. */
bool mg_graph_dtype(const mg_text *text, DLDataType *dtype);

#ifdef __cplusplus
}
#endif

#endif
