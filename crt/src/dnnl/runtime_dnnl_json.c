/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/runtime_dnnl_json.h"

#include "dnnl/dnnl_graph.h"
#include "dnnl/dnnl_operators.h"
#include "dnnl/dnnl_reader.h"

#include <string.h>

tvm_crt_error_t mg_dnnl_json_load(mg_stream *payload, mg_pool *pool, void **module)
{
    mg_dnnl_graph *graph = NULL;
    mg_text symbol;
    mg_text json;
    tvm_crt_error_t error;

    mg_stream_string(payload, &symbol);
    mg_stream_string(payload, &json);
    if (payload->failed) {
        return kTvmErrorExecutorGraphMalformed;
    }
    error = mg_dnnl_read_graph(json, payload, pool, &graph);
    if (error == kTvmErrorNoError) {
        graph->symbol = symbol;
        *module = graph;
    }
    return error;
}

tvm_crt_error_t mg_dnnl_json_find(const void *module, mg_text symbol, uint32_t *function)
{
    const mg_dnnl_graph *const graph = module;

    *function = 0U;
    return mg_text_same(graph->symbol, symbol) ? kTvmErrorNoError : kTvmErrorFunctionNameNotFound;
}

/* Tensors */

static float *data_of(const DLTensor *tensor)
{
    return (float *)(void *)((uint8_t *)tensor->data + tensor->byte_offset);
}

static bool has_shape(const DLTensor *tensor, const mg_dnnl_node *node)
{
    uint32_t i;

    if (tensor->ndim != (int32_t)node->ndim) {
        return false;
    }
    for (i = 0U; i < node->ndim; i++) {
        if (tensor->shape[i] != node->dims[i]) {
            return false;
        }
    }
    return true;
}

/* Checks that a tensor can be the output of a node. */
static tvm_crt_error_t check_tensor(const DLTensor *tensor, const mg_dnnl_node *node)
{
    if (tensor->dtype.code != kDLFloat || tensor->dtype.bits != 32U || tensor->dtype.lanes != 1U) {
        return kTvmErrorFunctionCallWrongArgType;
    }
    if (tensor->data == NULL || tensor->strides != NULL || !has_shape(tensor, node) ||
        (uintptr_t)data_of(tensor) % sizeof(float) != 0U) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    return kTvmErrorNoError;
}

tvm_crt_error_t mg_dnnl_json_init(void *module, uint32_t function, uint32_t index, mg_text name,
                                  const DLTensor *constant)
{
    const mg_dnnl_graph *const graph = module;
    tvm_crt_error_t error;

    if (function != 0U) {
        return kTvmErrorFunctionIndexInvalid;
    }
    if (index >= graph->num_constants || !mg_text_same(graph->constants[index].name, name)) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    error = check_tensor(constant, &graph->nodes[graph->constants[index].node]);
    if (error == kTvmErrorNoError) {
        graph->constants[index].data = data_of(constant);
    }
    return error;
}

/* The call */

/* Checks each argument against the node whose output it is. */
static tvm_crt_error_t check_args(const mg_dnnl_graph *graph, const mg_module_call *call)
{
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t i;

    if (call->num_args != graph->num_args + graph->num_heads) {
        return kTvmErrorFunctionCallNumArguments;
    }
    for (i = 0U; i < graph->num_nodes && error == kTvmErrorNoError; i++) {
        if (graph->nodes[i].storage == MG_DNNL_ARGUMENT) {
            error = check_tensor(&call->args[graph->nodes[i].place], &graph->nodes[i]);
        }
    }
    for (i = 0U; i < graph->num_heads && error == kTvmErrorNoError; i++) {
        error = check_tensor(&call->args[graph->num_args + i], &graph->nodes[graph->heads[i]]);
    }
    return error;
}

static tvm_crt_error_t check_call(const mg_dnnl_graph *graph, const mg_module_call *call)
{
    uint32_t i;

    for (i = 0U; i < graph->num_constants; i++) {
        if (graph->constants[i].data == NULL) {
            return kTvmErrorExecutorInputNotSet;
        }
    }
    if (call->workspace_bytes < graph->workspace_bytes) {
        return kTvmErrorPlatformNoMemory;
    }
    return check_args(graph, call);
}

/* The address of the output of a node that is not a constant. */
static float *place_of(const mg_module_call *call, const mg_dnnl_node *node)
{
    if (node->storage == MG_DNNL_ARGUMENT) {
        return data_of(&call->args[node->place]);
    }
    return (float *)(void *)(call->workspace + node->place);
}

static const float *value_of(const mg_dnnl_graph *graph, const mg_module_call *call,
                             const mg_dnnl_node *node)
{
    if (node->storage == MG_DNNL_CONSTANT) {
        return graph->constants[node->place].data;
    }
    return place_of(call, node);
}

static void run_node(const mg_dnnl_graph *graph, const mg_module_call *call,
                     const mg_dnnl_node *node)
{
    const float *inputs[MG_DNNL_MAX_INPUTS];
    uint32_t k;

    for (k = 0U; k < node->num_inputs; k++) {
        inputs[k] = value_of(graph, call, mg_dnnl_input(graph, node, k));
    }
    mg_dnnl_compute(graph, node, inputs, place_of(call, node));
}

/* Copies the outputs that were not computed in place: inputs, constants, and values that are
 * returned more than once. */
static void copy_heads(const mg_dnnl_graph *graph, const mg_module_call *call)
{
    uint32_t i;

    for (i = 0U; i < graph->num_heads; i++) {
        const mg_dnnl_node *const head = &graph->nodes[graph->heads[i]];
        const float *const from = value_of(graph, call, head);
        float *const to = data_of(&call->args[graph->num_args + i]);
        if (from != to) {
            (void)memcpy(to, from, (size_t)mg_dnnl_elements(head) * sizeof(float));
        }
    }
}

tvm_crt_error_t mg_dnnl_json_run(void *module, uint32_t function, const mg_module_call *call)
{
    const mg_dnnl_graph *const graph = module;
    tvm_crt_error_t error;
    uint32_t i;

    if (function != 0U) {
        return kTvmErrorFunctionIndexInvalid;
    }
    error = check_call(graph, call);
    for (i = 0U; i < graph->num_nodes && error == kTvmErrorNoError; i++) {
        if (graph->nodes[i].op != MG_DNNL_NOTHING) {
            run_node(graph, call, &graph->nodes[i]);
        }
    }
    if (error == kTvmErrorNoError) {
        copy_heads(graph, call);
    }
    return error;
}
