/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/graph_parts.h"

#include <string.h>

#define MAX_BYTES 0x7FFFFFFFU

/* TVM's limit for the length of function names. */
#define MAX_FUNCTION_NAME 120U

size_t mg_graph_table_bytes(const TVMGraphExecutorCounts *counts)
{
    return TVM_GRAPH_EXECUTOR_TABLE_BYTES(counts->nodes, counts->entries, counts->storages,
                                          counts->dims, counts->args, counts->max_args,
                                          counts->inputs, counts->outputs);
}

uint32_t mg_graph_element_bytes(const DLTensor *tensor)
{
    return ((uint32_t)tensor->dtype.bits + 7U) / 8U;
}

uint32_t mg_graph_tensor_bytes(const DLTensor *tensor)
{
    uint32_t bytes = mg_graph_element_bytes(tensor);
    int32_t i;

    for (i = 0; i < tensor->ndim; i++) {
        bytes *= (uint32_t)tensor->shape[i];
    }
    return bytes;
}

bool mg_graph_is_same_dtype(DLDataType a, DLDataType b)
{
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/* Takes the next table, of `count` elements of `size` bytes each. */
static void *table(uint8_t **memory, uint32_t count, size_t size)
{
    void *const start = *memory;

    *memory += TVM_GRAPH_EXECUTOR_ALIGNED(count * size);
    return start;
}

static TVMGraphExecutor *lay_out(uint8_t *memory, const TVMGraphExecutorCounts *counts)
{
    TVMGraphExecutor *const executor = table(&memory, 1U, sizeof(TVMGraphExecutor));

    executor->counts = *counts;
    executor->nodes = table(&memory, counts->nodes, sizeof(TVMGraphExecutorNode));
    executor->tensors = table(&memory, counts->entries, sizeof(DLTensor));
    executor->storage_ids = table(&memory, counts->entries, sizeof(uint32_t));
    executor->storages = table(&memory, counts->storages, sizeof(TVMGraphExecutorStorage));
    executor->dims = table(&memory, counts->dims, sizeof(int64_t));
    executor->args = table(&memory, counts->args, sizeof(TVMValue));
    executor->type_codes = table(&memory, counts->max_args, sizeof(int));
    executor->inputs = table(&memory, counts->inputs, sizeof(uint32_t));
    executor->outputs = table(&memory, counts->outputs, sizeof(uint32_t));
    return executor;
}

/* Entries: shapes, data types, storage ids */

static bool read_shape(mg_json *json, DLTensor *tensor)
{
    uint64_t bytes = mg_graph_element_bytes(tensor);
    uint32_t i;

    mg_json_open(json, '[');
    for (i = 0U; mg_json_more(json, i, ']'); i++) {
        const uint32_t dim = mg_json_unsigned(json);
        tensor->shape[i] = (int64_t)dim;
        bytes *= dim;
        if (bytes > MAX_BYTES) {
            return false;
        }
    }
    tensor->ndim = (int32_t)i;
    return true;
}

static void widen(TVMGraphExecutorStorage *storage, const DLTensor *tensor)
{
    const uint32_t bytes = mg_graph_tensor_bytes(tensor);
    const uint8_t alignment = (uint8_t)mg_graph_element_bytes(tensor);

    storage->bytes = bytes > storage->bytes ? bytes : storage->bytes;
    storage->alignment = alignment > storage->alignment ? alignment : storage->alignment;
}

static tvm_crt_error_t read_entries(TVMGraphExecutor *executor, mg_graph_parts parts,
                                    DLDevice device)
{
    int64_t *dims = executor->dims;
    uint32_t i;

    mg_json_open(&parts.dltype, '[');
    mg_json_open(&parts.shape, '[');
    mg_json_open(&parts.storage_id, '[');
    for (i = 0U; i < executor->counts.entries; i++) {
        DLTensor *const tensor = &executor->tensors[i];
        mg_text dtype;
        (void)mg_json_more(&parts.dltype, i, ']');
        (void)mg_json_more(&parts.shape, i, ']');
        (void)mg_json_more(&parts.storage_id, i, ']');
        mg_json_string(&parts.dltype, &dtype);
        (void)mg_graph_dtype(&dtype, &tensor->dtype);
        tensor->device = device;
        tensor->shape = dims;
        if (!read_shape(&parts.shape, tensor)) {
            return kTvmErrorExecutorGraphUnsupported;
        }
        dims += tensor->ndim;
        executor->storage_ids[i] = mg_json_unsigned(&parts.storage_id);
        widen(&executor->storages[executor->storage_ids[i]], tensor);
    }
    return kTvmErrorNoError;
}

/* Nodes */

static TVMGraphExecutorStorage *storage_of(const TVMGraphExecutor *executor, uint32_t entry)
{
    return &executor->storages[executor->storage_ids[entry]];
}

/* Stores the entry of a node before `limit`. Returns kTvmErrorExecutorGraphMalformed if there is
 * none. */
static tvm_crt_error_t resolve(const TVMGraphExecutor *executor, mg_json_reference reference,
                               uint32_t limit, uint32_t *entry)
{
    if (reference.node >= limit || reference.index >= executor->nodes[reference.node].num_outputs) {
        return kTvmErrorExecutorGraphMalformed;
    }
    *entry = executor->nodes[reference.node].first_entry + reference.index;
    return kTvmErrorNoError;
}

static tvm_crt_error_t read_args(TVMGraphExecutor *executor, uint32_t i, mg_json inputs)
{
    TVMGraphExecutorNode *const node = &executor->nodes[i];
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t k;

    mg_json_open(&inputs, '[');
    for (k = 0U; mg_json_more(&inputs, k, ']') && error == kTvmErrorNoError; k++) {
        uint32_t entry = 0U;
        error = resolve(executor, mg_json_read_reference(&inputs), i, &entry);
        node->args[k].v_handle = &executor->tensors[entry];
    }
    for (k = 0U; k < node->num_outputs; k++) {
        node->args[node->num_inputs + k].v_handle = &executor->tensors[node->first_entry + k];
    }
    return error;
}

static uint32_t entry_of(const TVMGraphExecutor *executor, const TVMValue *arg)
{
    const DLTensor *const tensor = arg->v_handle;

    return (uint32_t)(tensor - executor->tensors);
}

/* Checks "__nop", which changes the shape of its input, or "__copy", which copies it. Both have one
 * output with the same number of bytes. */
static tvm_crt_error_t check_move(const TVMGraphExecutor *executor,
                                  const TVMGraphExecutorNode *node)
{
    uint32_t from;
    uint32_t to;

    if (node->num_inputs < 1U || node->num_outputs != 1U) {
        return kTvmErrorExecutorGraphMalformed;
    }
    from = entry_of(executor, &node->args[0]);
    to = entry_of(executor, &node->args[node->num_inputs]);
    if (mg_graph_tensor_bytes(&executor->tensors[from]) !=
        mg_graph_tensor_bytes(&executor->tensors[to])) {
        return kTvmErrorExecutorGraphMalformed;
    }
    if ((executor->storage_ids[from] == executor->storage_ids[to]) !=
        (node->kind == MG_GRAPH_NOTHING)) {
        return kTvmErrorGeneratedInvalidStorageId;
    }
    return kTvmErrorNoError;
}

static tvm_crt_error_t find_function(const TVMGraphExecutor *executor, const mg_text *function,
                                     TVMGraphExecutorNode *node)
{
    char name[MAX_FUNCTION_NAME];

    if (MG_TEXT_IS(function, "__nop") || MG_TEXT_IS(function, "__copy")) {
        node->kind = MG_TEXT_IS(function, "__nop") ? MG_GRAPH_NOTHING : MG_GRAPH_COPY;
        return check_move(executor, node);
    }
    node->kind = MG_GRAPH_CALL;
    if (!mg_text_copy(function, name, sizeof(name))) {
        return kTvmErrorFunctionNameNotFound;
    }
    return TVMFuncRegistry_Lookup(executor->module->registry, name, &node->function);
}

/* Marks an input's storage. Two inputs in one storage are refused, because they would overwrite
 * each other. */
static tvm_crt_error_t note_input(TVMGraphExecutor *executor, uint32_t entry)
{
    TVMGraphExecutorStorage *const storage = storage_of(executor, entry);

    if (storage->is_input != 0U) {
        return kTvmErrorGeneratedInvalidStorageId;
    }
    storage->is_input = 1U;
    return kTvmErrorNoError;
}

static void note_written(TVMGraphExecutor *executor, const TVMGraphExecutorNode *node)
{
    uint32_t k;

    for (k = 0U; k < node->num_outputs && node->kind != MG_GRAPH_NOTHING; k++) {
        storage_of(executor, node->first_entry + k)->is_written = 1U;
    }
}

static tvm_crt_error_t read_nodes(TVMGraphExecutor *executor, mg_graph_parts parts)
{
    TVMValue *args = executor->args;
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t entry = 0U;
    uint32_t i;

    mg_json_open(&parts.nodes, '[');
    mg_json_open(&parts.node_row_ptr, '[');
    for (i = 0U; mg_json_more(&parts.nodes, i, ']') && error == kTvmErrorNoError; i++) {
        TVMGraphExecutorNode *const node = &executor->nodes[i];
        mg_graph_json_node read;
        (void)mg_graph_read_node(&parts.nodes, &read);
        node->name = read.name.at;
        node->name_length = read.name.length;
        node->num_inputs = read.num_inputs;
        node->num_outputs = read.num_outputs;
        node->first_entry = entry;
        (void)mg_json_more(&parts.node_row_ptr, i, ']');
        if (mg_json_unsigned(&parts.node_row_ptr) != entry) {
            return kTvmErrorExecutorGraphMalformed;
        }
        entry += read.num_outputs;
        if (read.function.length == 0U) {
            error = note_input(executor, node->first_entry);
            continue;
        }
        node->args = args;
        args += read.num_inputs + read.num_outputs;
        error = read_args(executor, i, read.inputs);
        if (error == kTvmErrorNoError) {
            error = find_function(executor, &read.function, node);
        }
        note_written(executor, node);
    }
    (void)mg_json_more(&parts.node_row_ptr, i, ']');
    if (error == kTvmErrorNoError && mg_json_unsigned(&parts.node_row_ptr) != entry) {
        error = kTvmErrorExecutorGraphMalformed;
    }
    return error;
}

/* Inputs and outputs of the graph */

static tvm_crt_error_t read_inputs(TVMGraphExecutor *executor, mg_json json)
{
    uint32_t i;

    mg_json_open(&json, '[');
    for (i = 0U; mg_json_more(&json, i, ']'); i++) {
        const uint32_t node = mg_json_unsigned(&json);
        if (node >= executor->counts.nodes || executor->nodes[node].args != NULL) {
            return kTvmErrorExecutorGraphMalformed;
        }
        executor->inputs[i] = node;
    }
    return kTvmErrorNoError;
}

static tvm_crt_error_t read_outputs(TVMGraphExecutor *executor, mg_json json)
{
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t i;

    mg_json_open(&json, '[');
    for (i = 0U; mg_json_more(&json, i, ']') && error == kTvmErrorNoError; i++) {
        error = resolve(executor, mg_json_read_reference(&json), executor->counts.nodes,
                        &executor->outputs[i]);
    }
    return error;
}

tvm_crt_error_t mg_graph_build(uint8_t *memory, const mg_graph_parts *parts,
                               const TVMGraphExecutorCounts *counts, const TVMModule *module,
                               DLDevice device, TVMGraphExecutor **executor)
{
    tvm_crt_error_t error;
    uint32_t i;

    (void)memset(memory, 0, mg_graph_table_bytes(counts));
    *executor = lay_out(memory, counts);
    (*executor)->module = module;
    for (i = 0U; i < counts->max_args; i++) {
        (*executor)->type_codes[i] = kTVMDLTensorHandle;
    }
    error = read_entries(*executor, *parts, device);
    if (error == kTvmErrorNoError) {
        error = read_nodes(*executor, *parts);
    }
    if (error == kTvmErrorNoError) {
        error = read_inputs(*executor, parts->arg_nodes);
    }
    return error == kTvmErrorNoError ? read_outputs(*executor, parts->heads) : error;
}
