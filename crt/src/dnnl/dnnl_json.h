/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of a graph in the format of TVM's JSON runtimes: its parts and its nodes.
 *
 * {"symbol": "...", "nodes": [...], "arg_nodes": [...], "heads": [...], "node_row_ptr": [...]}, in
 * any order. Older texts have no symbol. As in TVM, other keys are refused, in nodes, too. */
#ifndef MICROGEN_DNNL_JSON_H
#define MICROGEN_DNNL_JSON_H

#include "tvm/runtime/crt/error_codes.h"
#include "json/json_keys.h"

/* Readers, each positioned at the array of that name. */
typedef struct {
    mg_json nodes;
    mg_json arg_nodes;
    mg_json heads;
    mg_json node_row_ptr;
} mg_dnnl_parts;

typedef struct {
    uint32_t nodes;
    uint32_t inputs; /* of all nodes */
    uint32_t heads;
    uint32_t constants;
} mg_dnnl_counts;

typedef enum {
    MG_DNNL_JSON_INPUT,
    MG_DNNL_JSON_CONST,
    MG_DNNL_JSON_KERNEL
} mg_dnnl_json_kind;

typedef struct {
    mg_text name;
    mg_json inputs; /* at the array; it has failed if there is none */
    mg_json attrs;  /* at the object */
    uint32_t num_inputs;
    uint32_t kind; /* mg_dnnl_json_kind */
} mg_dnnl_json_node;

/* Finds the parts and counts their items. After success the text is valid JSON, and each node is
 * well formed except for its attributes. References to nodes are not checked. */
MG_EXTERN tvm_crt_error_t mg_dnnl_scan(mg_text text, mg_dnnl_parts *parts, mg_dnnl_counts *counts);

/* Reads one node. The reader fails if the node is malformed. */
MG_EXTERN void mg_dnnl_read_node(mg_json *json, mg_dnnl_json_node *node);

#endif
