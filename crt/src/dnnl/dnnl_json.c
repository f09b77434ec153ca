/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/dnnl_json.h"

#include "dnnl/dnnl_graph.h"

/* Each name ends with a NUL, and one more NUL ends the list. The enum below has their positions. */
static const char graph_keys[] = "nodes\0arg_nodes\0heads\0node_row_ptr\0symbol\0";
enum {
    PARTS = 4,
    SYMBOL = PARTS
};

static const char node_keys[] = "op\0name\0attrs\0attr\0inputs\0";
enum {
    OP,
    NAME,
    NODE_PARTS,
    ATTRS = NODE_PARTS,
    ATTR, /* an alternative name of the same key */
    INPUTS
};

static const char op_names[] = "input\0const\0kernel\0";

void mg_dnnl_read_node(mg_json *json, mg_dnnl_json_node *node)
{
    const mg_json none = {json->end, json->end, true};
    mg_text text = {json->end, 0U};
    uint32_t seen = 0U;
    uint32_t i;

    node->name = text;
    node->inputs = none;
    node->attrs = none;
    node->num_inputs = 0U;
    mg_json_open(json, '{');
    for (i = 0U; mg_json_more(json, i, '}'); i++) {
        switch (mg_json_known_key(json, node_keys, &seen)) {
        case OP:
            mg_json_string(json, &text);
            break;
        case NAME:
            mg_json_string(json, &node->name);
            break;
        case ATTRS:
        case ATTR:
            mg_json_require(json, node->attrs.failed);
            node->attrs = *json;
            mg_json_skip(json);
            break;
        case INPUTS:
            node->inputs = *json;
            node->num_inputs = mg_json_count_references(json);
            break;
        default:
            mg_json_fail(json);
            break;
        }
    }
    node->kind = mg_text_place(&text, op_names);
    mg_json_require(json, mg_json_has_all(seen, NODE_PARTS) && !node->attrs.failed &&
                              node->kind != MG_TEXT_UNKNOWN &&
                              (node->kind == MG_DNNL_JSON_KERNEL) == (node->num_inputs > 0U));
}

static void scan_parts(mg_json *json, mg_dnnl_parts *parts)
{
    mg_json *const places[PARTS] = {&parts->nodes, &parts->arg_nodes, &parts->heads,
                                    &parts->node_row_ptr};
    mg_text symbol;
    uint32_t seen = 0U;
    uint32_t i;

    mg_json_open(json, '{');
    for (i = 0U; mg_json_more(json, i, '}'); i++) {
        const uint32_t key = mg_json_known_key(json, graph_keys, &seen);
        if (key < PARTS) {
            *places[key] = *json;
            mg_json_skip(json);
        } else {
            mg_json_require(json, key == SYMBOL);
            mg_json_string(json, &symbol);
        }
    }
    mg_json_require(json, mg_json_has_all(seen, PARTS) && mg_json_is_at_end(json));
}

static tvm_crt_error_t count_nodes(mg_json json, mg_dnnl_counts *counts)
{
    mg_dnnl_json_node node;

    mg_json_open(&json, '[');
    for (; mg_json_more(&json, counts->nodes, ']'); counts->nodes++) {
        mg_dnnl_read_node(&json, &node);
        if (counts->nodes == MG_DNNL_MAX_NODES || node.num_inputs > MG_DNNL_MAX_INPUTS) {
            return kTvmErrorExecutorGraphUnsupported;
        }
        counts->inputs += node.num_inputs;
        counts->constants += node.kind == MG_DNNL_JSON_CONST ? 1U : 0U;
    }
    return json.failed ? kTvmErrorExecutorGraphMalformed : kTvmErrorNoError;
}

tvm_crt_error_t mg_dnnl_scan(mg_text text, mg_dnnl_parts *parts, mg_dnnl_counts *counts)
{
    const mg_dnnl_counts none = {0U, 0U, 0U, 0U};
    mg_json json = {text.at, text.at + text.length, false};
    mg_json heads;
    tvm_crt_error_t error;

    *counts = none;
    scan_parts(&json, parts);
    if (json.failed) {
        return kTvmErrorExecutorGraphMalformed;
    }
    error = count_nodes(parts->nodes, counts);
    heads = parts->heads;
    counts->heads = mg_json_count_references(&heads);
    if (error == kTvmErrorNoError && (heads.failed || counts->heads == 0U)) {
        return kTvmErrorExecutorGraphMalformed;
    }
    if (error == kTvmErrorNoError && counts->heads > MG_DNNL_MAX_HEADS) {
        return kTvmErrorExecutorGraphUnsupported;
    }
    return error;
}
