/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/dnnl_reader.h"

#include "dnnl/dnnl_attrs.h"
#include "dnnl/dnnl_check.h"
#include "dnnl/dnnl_json.h"

/* Keeps sizes in bytes below 2^31. */
#define MAX_ELEMENTS ((uint32_t)INT32_MAX / (uint32_t)sizeof(float))

/* Names of operators */

/* Each name ends with a NUL, and one more NUL ends the list. */
static const char operators[] =
    "nn.conv2d\0nn.dense\0nn.batch_matmul\0add\0multiply\0nn.batch_norm\0nn.max_pool2d\0nn.avg_"
    "pool2d\0"
    "nn.global_max_pool2d\0nn.global_avg_pool2d\0nn.softmax\0nn.relu\0tanh\0sigmoid\0clip\0abs\0"
    "exp\0log\0sqrt\0nn.leaky_relu\0";
static const char activations[] = "_relu\0_tanh\0_sigmoid\0_clip\0_swish\0";
enum {
    SWISH = 4
}; /* those before it are in the order of the operators from MG_DNNL_RELU on */

/* Moves past `part` if the rest of the name begins with it. Returns whether it does. */
static bool take_part(mg_text *name, const char *part)
{
    uint32_t length = 0U;

    while (part[length] != '\0') {
        if (length == name->length || name->at[length] != part[length]) {
            return false;
        }
        length++;
    }
    name->at += length;
    name->length -= length;
    return true;
}

/* Matches "dnnl.conv2d" or "dnnl.dense", followed by an optional "_bias", an optional "_sum" and an
 * optional activation. */
static bool find_composite(mg_text name, mg_dnnl_node *node)
{
    uint32_t place;

    if (take_part(&name, "dnnl.conv2d")) {
        node->op = MG_DNNL_CONV2D;
    } else if (take_part(&name, "dnnl.dense")) {
        node->op = MG_DNNL_DENSE;
    } else {
        return false;
    }
    node->fused |= take_part(&name, "_bias") ? MG_DNNL_BIAS : 0U;
    node->fused |= take_part(&name, "_sum") ? MG_DNNL_SUM : 0U;
    if (name.length == 0U) {
        return true;
    }
    place = mg_text_place(&name, activations);
    node->activation = (uint8_t)(place == SWISH ? MG_DNNL_SWISH : MG_DNNL_RELU + place);
    return place != MG_TEXT_UNKNOWN;
}

/* Stores the operator that a name such as "nn.conv2d" or "dnnl.conv2d_bias_relu" means, and the
 * operations fused into it. Returns false for other names. */
static bool find_operator(const mg_text *name, mg_dnnl_node *node)
{
    const uint32_t place = mg_text_place(name, operators);

    node->activation = MG_DNNL_NOTHING;
    if (place == MG_TEXT_UNKNOWN) {
        return find_composite(*name, node);
    }
    node->op = (uint8_t)place;
    return true;
}

/* Nodes */

/* Reads a shape such as [1, 32, 56, 56]. */
static void read_dims(mg_json *json, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    uint32_t elements = 1U;
    uint32_t i;

    mg_json_open(json, '[');
    for (i = 0U; mg_json_more(json, i, ']'); i++) {
        const uint32_t dim = mg_json_unsigned(json);
        mg_json_require(json, dim > 0U);
        if (json->failed || i == MG_DNNL_MAX_DIMS || dim > MAX_ELEMENTS / elements) {
            mg_dnnl_support(attrs, json->failed);
            break;
        }
        elements *= dim;
        node->dims[i] = (int32_t)dim;
    }
    node->ndim = (uint8_t)i;
}

/* Reads [[shape, ...]]; only the first shape is used. */
static void read_shapes(mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    mg_json json = attrs->values[MG_DNNL_SHAPE];
    uint32_t i;

    mg_json_open(&json, '[');
    (void)mg_json_more(&json, 0U, ']');
    mg_json_open(&json, '[');
    for (i = 0U; mg_json_more(&json, i, ']') && attrs->error == kTvmErrorNoError; i++) {
        if (i == 0U) {
            read_dims(&json, node, attrs);
        } else {
            mg_json_skip(&json);
        }
        mg_dnnl_support(attrs, i < MG_DNNL_MAX_INPUTS);
    }
    mg_dnnl_require(attrs, !mg_json_more(&json, 1U, ']') && !json.failed && i > 0U);
    node->num_outputs = (uint8_t)i;
}

static void check_dtypes(const mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    mg_text texts[MG_DNNL_MAX_INPUTS];
    const uint32_t count = mg_dnnl_texts(attrs, MG_DNNL_DTYPE, texts, MG_DNNL_MAX_INPUTS);
    uint32_t i;

    mg_dnnl_require(attrs, count == node->num_outputs);
    for (i = 0U; i < count; i++) {
        mg_dnnl_support(attrs, MG_TEXT_IS(&texts[i], "float32"));
    }
}

static void read_type(mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    mg_dnnl_require(attrs, (attrs->seen >> MG_DNNL_SHAPE & 1U) != 0U);
    if (attrs->error == kTvmErrorNoError) {
        read_shapes(node, attrs);
        check_dtypes(node, attrs);
        mg_dnnl_require_count(attrs, MG_DNNL_NUM_OUTPUTS, node->num_outputs);
    }
}

/* The node before `limit` that a reference refers to. Only first outputs are supported, because the
 * others are not computed. */
static uint16_t resolve(const mg_dnnl_graph *graph, mg_json_reference reference, uint32_t limit,
                        mg_dnnl_attrs *attrs)
{
    mg_dnnl_require(attrs, reference.node < limit &&
                               reference.index < graph->nodes[reference.node].num_outputs);
    mg_dnnl_support(attrs, reference.index == 0U);
    return attrs->error == kTvmErrorNoError ? (uint16_t)reference.node : 0U;
}

static void read_inputs(mg_dnnl_graph *graph, uint32_t i, mg_json json, mg_dnnl_attrs *attrs)
{
    mg_dnnl_node *const node = &graph->nodes[i];
    uint32_t k;

    mg_json_open(&json, '[');
    for (k = 0U; mg_json_more(&json, k, ']') && attrs->error == kTvmErrorNoError; k++) {
        const uint16_t input = resolve(graph, mg_json_read_reference(&json), i, attrs);
        graph->inputs[node->first_input + k] = input;
        graph->nodes[input].last_use = (uint16_t)i;
    }
    node->num_inputs = (uint8_t)k;
    mg_dnnl_require_count(attrs, MG_DNNL_NUM_INPUTS, k);
}

/* Makes node i constant number `next`, whose name was read from the payload. */
static void take_constant(mg_dnnl_graph *graph, uint32_t i, const mg_text *name, uint32_t next,
                          mg_dnnl_attrs *attrs)
{
    mg_dnnl_constant *const constant = &graph->constants[next];

    mg_dnnl_require(attrs, mg_text_is(name, constant->name.at, constant->name.length));
    constant->node = i;
    graph->nodes[i].storage = MG_DNNL_CONSTANT;
    graph->nodes[i].place = next;
}

static void read_kernel(mg_dnnl_graph *graph, uint32_t i, const mg_dnnl_json_node *read,
                        mg_dnnl_attrs *attrs)
{
    mg_dnnl_node *const node = &graph->nodes[i];

    node->storage = MG_DNNL_WORKSPACE;
    read_inputs(graph, i, read->inputs, attrs);
    mg_dnnl_support(attrs, find_operator(&read->name, node));
    if (attrs->error == kTvmErrorNoError) {
        mg_dnnl_check(graph, node, attrs);
    }
}

/* Whether the next of "arg_nodes" is this node. */
static bool is_next_arg(mg_json *arg_nodes, uint32_t done, uint32_t i)
{
    return mg_json_more(arg_nodes, done, ']') && mg_json_unsigned(arg_nodes) == i &&
           !arg_nodes->failed;
}

/* Whether the next of "node_row_ptr" is this number of outputs. */
static bool is_next_row(mg_json *rows, uint32_t done, uint32_t outputs)
{
    return mg_json_more(rows, done, ']') && mg_json_unsigned(rows) == outputs && !rows->failed;
}

static tvm_crt_error_t read_nodes(mg_dnnl_graph *graph, mg_dnnl_parts parts)
{
    mg_dnnl_json_node read;
    mg_dnnl_attrs attrs;
    uint32_t constants = 0U;
    uint32_t inputs = 0U;
    uint32_t outputs = 0U;
    uint32_t i;

    mg_json_open(&parts.nodes, '[');
    mg_json_open(&parts.arg_nodes, '[');
    mg_json_open(&parts.node_row_ptr, '[');
    for (i = 0U; mg_json_more(&parts.nodes, i, ']'); i++) {
        mg_dnnl_node *const node = &graph->nodes[i];
        mg_dnnl_read_node(&parts.nodes, &read);
        mg_dnnl_find_attrs(read.attrs, &attrs);
        read_type(node, &attrs);
        node->op = MG_DNNL_NOTHING;
        node->first_input = (uint16_t)inputs;
        node->last_use = (uint16_t)i;
        mg_dnnl_require(&attrs, is_next_row(&parts.node_row_ptr, i, outputs));
        if (read.kind == MG_DNNL_JSON_KERNEL) {
            read_kernel(graph, i, &read, &attrs);
        } else {
            mg_dnnl_support(&attrs, node->num_outputs == 1U);
            mg_dnnl_require(&attrs, is_next_arg(&parts.arg_nodes, graph->num_args + constants, i));
            if (read.kind == MG_DNNL_JSON_CONST) {
                take_constant(graph, i, &read.name, constants++, &attrs);
            } else {
                node->place = graph->num_args++;
            }
        }
        if (attrs.error != kTvmErrorNoError) {
            return attrs.error;
        }
        inputs += read.num_inputs;
        outputs += node->num_outputs;
    }
    if (!is_next_row(&parts.node_row_ptr, i, outputs) ||
        mg_json_more(&parts.node_row_ptr, i + 1U, ']') || parts.node_row_ptr.failed ||
        mg_json_more(&parts.arg_nodes, graph->num_args + constants, ']') ||
        parts.arg_nodes.failed) {
        return kTvmErrorExecutorGraphMalformed;
    }
    return kTvmErrorNoError;
}

/* Reads the heads. A computed value that is a head is written to the function's output directly, or
 * to the first of several. */
static tvm_crt_error_t read_heads(mg_dnnl_graph *graph, mg_json heads)
{
    mg_dnnl_attrs attrs;
    uint32_t i;

    attrs.error = kTvmErrorNoError;
    mg_json_open(&heads, '[');
    for (i = 0U; mg_json_more(&heads, i, ']') && attrs.error == kTvmErrorNoError; i++) {
        const uint16_t head =
            resolve(graph, mg_json_read_reference(&heads), graph->num_nodes, &attrs);
        graph->heads[i] = head;
        if (graph->nodes[head].storage == MG_DNNL_WORKSPACE) {
            graph->nodes[head].storage = MG_DNNL_ARGUMENT;
            graph->nodes[head].place = graph->num_args + i;
        }
    }
    return attrs.error;
}

/* The workspace */

/* The node's aligned size in bytes, below 2^31 + MG_DNNL_ALIGNMENT. */
static uint32_t size_of(const mg_dnnl_node *node)
{
    const uint32_t nbytes = (uint32_t)mg_dnnl_elements(node) * (uint32_t)sizeof(float);

    return (nbytes + MG_DNNL_ALIGNMENT - 1U) / MG_DNNL_ALIGNMENT * MG_DNNL_ALIGNMENT;
}

/* Moves `place` past each earlier output that is needed while node i is computed and overlaps
 * `size` bytes at `place`. Returns whether there was one. */
static bool evade(const mg_dnnl_graph *graph, uint32_t i, uint32_t size, uint32_t *place)
{
    bool has_moved = false;
    uint32_t k;

    for (k = 0U; k < i; k++) {
        const mg_dnnl_node *const other = &graph->nodes[k];
        if (other->storage == MG_DNNL_WORKSPACE && other->last_use >= i &&
            other->place < *place + size && *place < other->place + size_of(other)) {
            *place = other->place + size_of(other);
            has_moved = true;
        }
    }
    return has_moved;
}

/* Assigns a place to each node whose storage is the workspace, in the order of the nodes. It is the
 * lowest multiple of MG_DNNL_ALIGNMENT at which the node overlaps no value that is still needed.
 * Also stores the size of the workspace. Returns kTvmErrorPlatformNoMemory for 2^31 bytes or more.
 *
 * microgen/tvm/codegens/dnnl/runtime.py applies the same rule. */
static tvm_crt_error_t lay_out(mg_dnnl_graph *graph)
{
    uint32_t i;

    for (i = 0U; i < graph->num_nodes; i++) {
        mg_dnnl_node *const node = &graph->nodes[i];
        const uint32_t size = size_of(node);
        uint32_t place = 0U;
        if (node->storage != MG_DNNL_WORKSPACE) {
            continue;
        }
        while (evade(graph, i, size, &place)) {
        }
        if (size > (uint32_t)INT32_MAX - place) {
            return kTvmErrorPlatformNoMemory;
        }
        node->place = place;
        if (place + size > graph->workspace_bytes) {
            graph->workspace_bytes = place + size;
        }
    }
    return kTvmErrorNoError;
}

/* The tables */

static void *take(mg_pool *pool, uint32_t count, size_t size, bool *failed)
{
    void *const block = mg_pool_take(pool, count, size);

    *failed = *failed || block == NULL;
    return block;
}

static mg_dnnl_graph *take_tables(mg_pool *pool, const mg_dnnl_counts *counts)
{
    bool failed = false;
    mg_dnnl_graph *const graph = take(pool, 1U, sizeof(mg_dnnl_graph), &failed);

    if (graph != NULL) {
        graph->nodes = take(pool, counts->nodes, sizeof(mg_dnnl_node), &failed);
        graph->inputs = take(pool, counts->inputs, sizeof(uint16_t), &failed);
        graph->heads = take(pool, counts->heads, sizeof(uint16_t), &failed);
        graph->constants = take(pool, counts->constants, sizeof(mg_dnnl_constant), &failed);
        graph->num_nodes = counts->nodes;
        graph->num_inputs = counts->inputs;
        graph->num_heads = counts->heads;
        graph->num_constants = counts->constants;
    }
    return failed ? NULL : graph;
}

static tvm_crt_error_t fill(mg_dnnl_graph *graph, const mg_dnnl_parts *parts)
{
    tvm_crt_error_t error = read_nodes(graph, *parts);

    if (error == kTvmErrorNoError) {
        error = read_heads(graph, parts->heads);
    }
    return error == kTvmErrorNoError ? lay_out(graph) : error;
}

tvm_crt_error_t mg_dnnl_read_graph(mg_text json, mg_stream *names, mg_pool *pool,
                                   mg_dnnl_graph **graph)
{
    mg_dnnl_parts parts;
    mg_dnnl_counts counts;
    tvm_crt_error_t error = mg_dnnl_scan(json, &parts, &counts);
    uint32_t i;

    if (error != kTvmErrorNoError) {
        return error;
    }
    if (mg_stream_count(names, 8U) != counts.constants || names->failed) {
        return kTvmErrorExecutorGraphMalformed;
    }
    *graph = take_tables(pool, &counts);
    if (*graph == NULL) {
        return kTvmErrorPlatformNoMemory;
    }
    for (i = 0U; i < counts.constants; i++) {
        mg_stream_string(names, &(*graph)->constants[i].name);
    }
    return names->failed ? kTvmErrorExecutorGraphMalformed : fill(*graph, &parts);
}
