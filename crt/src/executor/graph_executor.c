/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm/runtime/crt/graph_executor.h"
#include "executor/graph_parts.h"
#include "tvm/runtime/crt/platform.h"
#include "tvm/runtime/crt/platform_memory.h"

#include <string.h>

/* Creation */

static size_t padding(const uint8_t *memory)
{
    return (size_t)(-(uintptr_t)memory & (TVM_GRAPH_EXECUTOR_ALIGNMENT - 1U));
}

int TVMGraphExecutor_CreateIn(uint8_t *pool, size_t num_pool, const char *sym_json, size_t num_json,
                              const TVMModule *module, DLDevice device, TVMGraphExecutor **executor)
{
    mg_graph_parts parts;
    TVMGraphExecutorCounts counts;
    size_t tables;
    const size_t lost = padding(pool);
    tvm_crt_error_t error = mg_graph_scan(sym_json, num_json, &parts, &counts);

    *executor = NULL;
    if (error != kTvmErrorNoError) {
        return error;
    }
    tables = mg_graph_table_bytes(&counts);
    if (lost > num_pool || tables > num_pool - lost) {
        return kTvmErrorPlatformNoMemory;
    }
    error = mg_graph_build(pool + lost, &parts, &counts, module, device, executor);
    if (error == kTvmErrorNoError) {
        (*executor)->num_used = tables;
        error = mg_graph_give(*executor, pool + lost + tables, num_pool - lost - tables);
    }
    if (error != kTvmErrorNoError) {
        *executor = NULL;
    }
    return error;
}

static tvm_crt_error_t allocate_storages(TVMGraphExecutor *executor, DLDevice device)
{
    size_t nbytes = mg_graph_memory_bytes(executor, true);
    void *block = NULL;
    tvm_crt_error_t error = TVMPlatformMemoryAllocate(nbytes, device, &block);

    if (error != kTvmErrorNoError) {
        nbytes = mg_graph_memory_bytes(executor, false);
        error = TVMPlatformMemoryAllocate(nbytes, device, &block);
    }
    if (error == kTvmErrorNoError) {
        executor->storage_block = block;
        error = mg_graph_give(executor, block, nbytes);
    }
    return error;
}

/* Stops after MG_GRAPH_MAX_TEXT, because longer texts are refused. (The bound also keeps GCC from
 * turning the loop into a call of strlen.) */
static size_t text_length(const char *text)
{
    size_t length = 0U;

    while (length <= MG_GRAPH_MAX_TEXT && text[length] != '\0') {
        length++;
    }
    return length;
}

int TVMGraphExecutor_Create(const char *sym_json, TVMModuleHandle module_handle,
                            const DLDevice *devices, TVMGraphExecutor **executor)
{
    const TVMModule *const module = TVMModule_OfHandle(module_handle);
    mg_graph_parts parts;
    TVMGraphExecutorCounts counts;
    void *block = NULL;
    tvm_crt_error_t error = mg_graph_scan(sym_json, text_length(sym_json), &parts, &counts);

    *executor = NULL;
    if (module == NULL) {
        return kTvmErrorExecutorModuleBadContext;
    }
    if (error != kTvmErrorNoError) {
        return error;
    }
    error = TVMPlatformMemoryAllocate(mg_graph_table_bytes(&counts), devices[0], &block);
    if (error != kTvmErrorNoError) {
        return error;
    }
    error = mg_graph_build(block, &parts, &counts, module, devices[0], executor);
    (*executor)->tables_block = block;
    (*executor)->num_used = mg_graph_table_bytes(&counts);
    if (error == kTvmErrorNoError) {
        error = allocate_storages(*executor, devices[0]);
    }
    if (error != kTvmErrorNoError) {
        (void)TVMGraphExecutor_Release(executor);
    }
    return error;
}

int TVMGraphExecutor_Release(TVMGraphExecutor **executor)
{
    const DLDevice host = {kDLCPU, 0};
    void *const tables = *executor != NULL ? (*executor)->tables_block : NULL;
    tvm_crt_error_t error = kTvmErrorNoError;

    if (tables != NULL && (*executor)->storage_block != NULL) {
        error = TVMPlatformMemoryFree((*executor)->storage_block, host);
    }
    if (tables != NULL && error == kTvmErrorNoError) {
        error = TVMPlatformMemoryFree(tables, host);
    }
    *executor = NULL;
    return error;
}

/* Inputs */

static uint32_t input_entry(const TVMGraphExecutor *executor, int32_t index)
{
    return executor->nodes[executor->inputs[index]].first_entry;
}

int TVMGraphExecutor_GetInputIndex(TVMGraphExecutor *executor, const char *name)
{
    const size_t length = text_length(name);
    uint32_t i;

    for (i = 0U; i < executor->counts.inputs; i++) {
        const TVMGraphExecutorNode *const node = &executor->nodes[executor->inputs[i]];
        const mg_text text = {node->name, node->name_length};
        if (mg_text_is(&text, name, length)) {
            return (int)i;
        }
    }
    return -1;
}

int TVMGraphExecutor_GetNumInputs(TVMGraphExecutor *executor)
{
    return (int)executor->counts.inputs;
}

static bool is_index(int32_t index, uint32_t count)
{
    return index >= 0 && (uint32_t)index < count;
}

/* Whether the tensor is compact and has `count` elements. */
static bool is_compact(const DLTensor *tensor, uint32_t count)
{
    uint64_t stride = 1U;
    int32_t i;

    for (i = tensor->ndim; i > 0; i--) {
        const int64_t dim = tensor->shape[i - 1];
        if (dim < 0 || dim > INT32_MAX ||
            (tensor->strides != NULL && dim != 1 && tensor->strides[i - 1] != (int64_t)stride)) {
            return false;
        }
        stride *= (uint64_t)dim;
        if (stride > count && count > 0U) {
            return false;
        }
    }
    return stride == count;
}

static uint32_t element_count(const DLTensor *tensor)
{
    return mg_graph_tensor_bytes(tensor) / mg_graph_element_bytes(tensor);
}

/* Checks that the caller's tensor can be the input or the output `tensor` of the graph. */
static tvm_crt_error_t check(const DLTensor *tensor, const DLTensor *callers)
{
    if (callers == NULL || callers->data == NULL || !is_compact(callers, element_count(tensor))) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    return mg_graph_is_same_dtype(tensor->dtype, callers->dtype)
               ? kTvmErrorNoError
               : kTvmErrorFunctionCallWrongArgType;
}

static uint8_t *data_of(const DLTensor *tensor)
{
    return (uint8_t *)tensor->data + tensor->byte_offset;
}

int TVMGraphExecutor_SetInputZeroCopy(TVMGraphExecutor *executor, int32_t index, DLTensor *data_in)
{
    tvm_crt_error_t error;
    uint32_t entry;

    if (!is_index(index, executor->counts.inputs)) {
        return kTvmErrorExecutorModuleNoSuchInput;
    }
    entry = input_entry(executor, index);
    error = check(&executor->tensors[entry], data_in);
    if (error != kTvmErrorNoError) {
        return error;
    }
    if (!mg_graph_is_aligned(executor, entry, data_of(data_in))) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    if (!mg_graph_can_alias(executor, entry)) {
        return kTvmErrorGeneratedInvalidStorageId;
    }
    mg_graph_alias(executor, entry, data_of(data_in));
    return kTvmErrorNoError;
}

int TVMGraphExecutor_SetInput(TVMGraphExecutor *executor, const char *name, DLTensor *data_in)
{
    return TVMGraphExecutor_SetInputZeroCopy(
        executor, TVMGraphExecutor_GetInputIndex(executor, name), data_in);
}

int TVMGraphExecutor_CopyInput(TVMGraphExecutor *executor, int32_t index, const DLTensor *data_in)
{
    tvm_crt_error_t error;
    uint32_t entry;

    if (!is_index(index, executor->counts.inputs)) {
        return kTvmErrorExecutorModuleNoSuchInput;
    }
    entry = input_entry(executor, index);
    error = check(&executor->tensors[entry], data_in);
    return error == kTvmErrorNoError ? mg_graph_copy_in(executor, entry, data_of(data_in)) : error;
}

int TVMGraphExecutor_GetInput(TVMGraphExecutor *executor, int32_t index, const DLTensor **tensor)
{
    if (!is_index(index, executor->counts.inputs)) {
        return kTvmErrorExecutorModuleNoSuchInput;
    }
    *tensor = &executor->tensors[input_entry(executor, index)];
    return kTvmErrorNoError;
}

int TVMGraphExecutor_LoadParams(TVMGraphExecutor *executor, const char *param_blob,
                                const uint32_t param_size)
{
    return mg_graph_load_params(executor, (const uint8_t *)param_blob, param_size);
}

/* Outputs */

int TVMGraphExecutor_GetNumOutputs(TVMGraphExecutor *executor)
{
    return (int)executor->counts.outputs;
}

int TVMGraphExecutor_GetOutputZeroCopy(TVMGraphExecutor *executor, int32_t index,
                                       const DLTensor **tensor)
{
    if (!is_index(index, executor->counts.outputs)) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    *tensor = &executor->tensors[executor->outputs[index]];
    return kTvmErrorNoError;
}

static bool has_same_shape(const DLTensor *a, const DLTensor *b)
{
    int32_t i;

    for (i = 0; i < a->ndim && i < b->ndim; i++) {
        if (a->shape[i] != b->shape[i]) {
            return false;
        }
    }
    return a->ndim == b->ndim;
}

int TVMGraphExecutor_GetOutput(TVMGraphExecutor *executor, const int32_t index, DLTensor *out)
{
    const DLTensor *tensor = NULL;
    tvm_crt_error_t error;

    if (TVMGraphExecutor_GetOutputZeroCopy(executor, index, &tensor) != 0 || tensor->data == NULL) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    error = check(tensor, out);
    if (error == kTvmErrorNoError && !has_same_shape(tensor, out)) {
        error = kTvmErrorFunctionCallInvalidArg;
    }
    if (error == kTvmErrorNoError) {
        (void)memmove(data_of(out), tensor->data, mg_graph_tensor_bytes(tensor));
    }
    return error;
}

/* Runs */

static int call(TVMGraphExecutor *executor, const TVMGraphExecutorNode *node)
{
    const TVMFuncRegistry *const registry = executor->module->registry;
    TVMValue result;
    int result_code = kTVMNullptr;

    result.v_handle = NULL;
    return registry->funcs[node->function](node->args, executor->type_codes,
                                           (int)(node->num_inputs + node->num_outputs), &result,
                                           &result_code, (void *)registry);
}

static void copy(const TVMGraphExecutorNode *node)
{
    const DLTensor *const from = node->args[0].v_handle;
    const DLTensor *const to = node->args[node->num_inputs].v_handle;

    (void)memmove(to->data, from->data, mg_graph_tensor_bytes(to));
}

/* Not inlined, because profiles look for this symbol: all operators are called from here. */
__attribute__((noinline)) int TVMGraphExecutor_RunNode(TVMGraphExecutor *executor, uint32_t node)
{
    if (node >= executor->counts.nodes) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    if (executor->num_unset > 0U) {
        return kTvmErrorExecutorInputNotSet;
    }
    if (executor->nodes[node].kind == MG_GRAPH_CALL) {
        return call(executor, &executor->nodes[node]);
    }
    if (executor->nodes[node].kind == MG_GRAPH_COPY) {
        copy(&executor->nodes[node]);
    }
    return kTvmErrorNoError;
}

int TVMGraphExecutor_Run(TVMGraphExecutor *executor)
{
    int error = executor->num_unset > 0U ? kTvmErrorExecutorInputNotSet : kTvmErrorNoError;
    uint32_t i;

    for (i = 0U; i < executor->counts.nodes && error == kTvmErrorNoError; i++) {
        if (executor->nodes[i].kind != MG_GRAPH_NOTHING) {
            error = TVMGraphExecutor_RunNode(executor, i);
        }
    }
    return error;
}

static int run_timed(TVMGraphExecutor *executor, uint32_t node, double *seconds)
{
    tvm_crt_error_t stopped;
    int error = TVMPlatformTimerStart();

    if (error != kTvmErrorNoError) {
        return error;
    }
    error = TVMGraphExecutor_RunNode(executor, node);
    stopped = TVMPlatformTimerStop(seconds);
    return error != kTvmErrorNoError ? error : (int)stopped;
}

int TVMGraphExecutor_RunDebug(TVMGraphExecutor *executor, double *seconds, uint32_t count)
{
    int error = kTvmErrorNoError;
    uint32_t i;

    if (count < executor->counts.nodes) {
        return kTvmErrorBufferTooSmall;
    }
    (void)memset(seconds, 0, count * sizeof(*seconds));
    for (i = 0U; i < executor->counts.nodes && error == kTvmErrorNoError; i++) {
        if (executor->nodes[i].kind != MG_GRAPH_NOTHING) {
            error = run_timed(executor, i, &seconds[i]);
        }
    }
    return error;
}

/* Nodes */

uint32_t TVMGraphExecutor_GetNumNodes(const TVMGraphExecutor *executor)
{
    return executor->counts.nodes;
}

int TVMGraphExecutor_GetNodeName(const TVMGraphExecutor *executor, uint32_t node, char *name,
                                 size_t num_name)
{
    mg_text text;

    if (node >= executor->counts.nodes) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    text.at = executor->nodes[node].name;
    text.length = executor->nodes[node].name_length;
    return num_name > 0U && mg_text_copy(&text, name, num_name) ? kTvmErrorNoError
                                                                : kTvmErrorBufferTooSmall;
}

int TVMGraphExecutor_GetNodeOutput(const TVMGraphExecutor *executor, uint32_t node, uint32_t index,
                                   const DLTensor **tensor)
{
    if (node >= executor->counts.nodes || index >= executor->nodes[node].num_outputs) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    *tensor = &executor->tensors[executor->nodes[node].first_entry + index];
    return kTvmErrorNoError;
}

size_t TVMGraphExecutor_GetPoolBytesUsed(const TVMGraphExecutor *executor)
{
    return executor->num_used;
}
