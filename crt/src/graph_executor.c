#include "tvm/runtime/crt/graph_executor.h"
#include "graph_tables.h"
#include "param_file.h"
#include "tvm/runtime/crt/platform.h"
#include "tvm/runtime/crt/platform_memory.h"

#include <string.h>

/* Memory of tensors */

static void give(TVMGraphExecutor *executor, uint8_t *memory, size_t nbytes)
{
    executor->free = memory;
    executor->num_free = nbytes;
}

static uint32_t input_entry(const TVMGraphExecutor *executor, int32_t index)
{
    return executor->nodes[executor->inputs[index]].first_entry;
}

static TVMGraphExecutorStorage *storage_of(const TVMGraphExecutor *executor, uint32_t entry)
{
    return &executor->storages[executor->storage_ids[entry]];
}

/* Makes all tensors in the storage have their data there. */
static void bind(TVMGraphExecutor *executor, uint32_t storage_id, uint8_t *data)
{
    TVMGraphExecutorStorage *const storage = &executor->storages[storage_id];
    uint32_t i;

    if (storage->data == NULL && storage->is_input != 0U) {
        executor->num_unset--;
    }
    storage->data = data;
    for (i = 0U; i < executor->counts.entries; i++) {
        if (executor->storage_ids[i] == storage_id) {
            executor->tensors[i].data = data;
        }
    }
}

static tvm_crt_error_t allocate(TVMGraphExecutor *executor, uint32_t storage_id)
{
    TVMGraphExecutorStorage *const storage = &executor->storages[storage_id];
    const size_t nbytes = TVM_GRAPH_EXECUTOR_ALIGNED(storage->bytes);

    if (nbytes > executor->num_free) {
        return kTvmErrorPlatformNoMemory;
    }
    storage->is_owned = 1U;
    bind(executor, storage_id, executor->free);
    executor->free += nbytes;
    executor->num_free -= nbytes;
    executor->num_used += nbytes;
    return kTvmErrorNoError;
}

static tvm_crt_error_t allocate_written(TVMGraphExecutor *executor)
{
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t i;

    for (i = 0U; i < executor->counts.storages; i++) {
        executor->num_unset += executor->storages[i].is_input;
    }
    for (i = 0U; i < executor->counts.storages && error == kTvmErrorNoError; i++) {
        if (executor->storages[i].is_written != 0U) {
            error = allocate(executor, i);
        }
    }
    return error;
}

/* Bytes for all storages, or for those that nodes write; 0 if that is beyond size_t. */
static size_t storage_bytes(const TVMGraphExecutor *executor, bool all)
{
    size_t sum = 0U;
    uint32_t i;

    for (i = 0U; i < executor->counts.storages; i++) {
        const TVMGraphExecutorStorage *const storage = &executor->storages[i];
        const size_t nbytes = TVM_GRAPH_EXECUTOR_ALIGNED(storage->bytes);
        if (all || storage->is_written != 0U) {
            if (nbytes > SIZE_MAX - sum) {
                return SIZE_MAX;
            }
            sum += nbytes;
        }
    }
    return sum;
}

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
        give(*executor, pool + lost + tables, num_pool - lost - tables);
        error = allocate_written(*executor);
    }
    if (error != kTvmErrorNoError) {
        *executor = NULL;
    }
    return error;
}

static tvm_crt_error_t allocate_storages(TVMGraphExecutor *executor, DLDevice device)
{
    size_t nbytes = storage_bytes(executor, true);
    void *block = NULL;
    tvm_crt_error_t error = TVMPlatformMemoryAllocate(nbytes, device, &block);

    if (error != kTvmErrorNoError) {
        nbytes = storage_bytes(executor, false);
        error = TVMPlatformMemoryAllocate(nbytes, device, &block);
    }
    if (error == kTvmErrorNoError) {
        executor->storage_block = block;
        give(executor, block, nbytes);
        error = allocate_written(executor);
    }
    return error;
}

static size_t text_length(const char *text)
{
    size_t length = 0U;

    while (text[length] != '\0') {
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

static bool is_same_dtype(DLDataType a, DLDataType b)
{
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/* Whether the elements stand as a tensor of `count` elements expects them. */
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

/* Whether the caller's tensor can be the input or the output `tensor` of the graph. */
static tvm_crt_error_t check(const DLTensor *tensor, const DLTensor *callers)
{
    if (callers == NULL || callers->data == NULL || !is_compact(callers, element_count(tensor))) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    return is_same_dtype(tensor->dtype, callers->dtype) ? kTvmErrorNoError
                                                        : kTvmErrorFunctionCallWrongArgType;
}

static uint8_t *data_of(const DLTensor *tensor)
{
    return (uint8_t *)tensor->data + tensor->byte_offset;
}

static bool is_aligned(const uint8_t *data, uint32_t alignment)
{
    return ((uintptr_t)data & (alignment - 1U)) == 0U;
}

/* An alias must hold all that tensors of the storage read, and nobody may write to it. */
static bool can_alias(const TVMGraphExecutor *executor, uint32_t entry)
{
    const TVMGraphExecutorStorage *const storage = storage_of(executor, entry);

    return storage->is_written == 0U &&
           storage->bytes == mg_graph_tensor_bytes(&executor->tensors[entry]);
}

static tvm_crt_error_t copy_in(TVMGraphExecutor *executor, uint32_t entry, const uint8_t *data)
{
    if (storage_of(executor, entry)->is_owned == 0U) {
        const tvm_crt_error_t error = allocate(executor, executor->storage_ids[entry]);
        if (error != kTvmErrorNoError) {
            return error;
        }
    }
    (void)memmove(executor->tensors[entry].data, data,
                  mg_graph_tensor_bytes(&executor->tensors[entry]));
    return kTvmErrorNoError;
}

/* Has the tensor's storage be the caller's; what it had of the pool stays unused. */
static void alias(TVMGraphExecutor *executor, uint32_t entry, uint8_t *data)
{
    storage_of(executor, entry)->is_owned = 0U;
    bind(executor, executor->storage_ids[entry], data);
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
    if (!is_aligned(data_of(data_in), storage_of(executor, entry)->alignment)) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    if (!can_alias(executor, entry)) {
        return kTvmErrorGeneratedInvalidStorageId;
    }
    alias(executor, entry, data_of(data_in));
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
    return error == kTvmErrorNoError ? copy_in(executor, entry, data_of(data_in)) : error;
}

int TVMGraphExecutor_GetInput(TVMGraphExecutor *executor, int32_t index, const DLTensor **tensor)
{
    if (!is_index(index, executor->counts.inputs)) {
        return kTvmErrorExecutorModuleNoSuchInput;
    }
    *tensor = &executor->tensors[input_entry(executor, index)];
    return kTvmErrorNoError;
}

/* Parameters */

static int32_t param_index(const TVMGraphExecutor *executor, const mg_param *param)
{
    uint32_t i;

    for (i = 0U; i < executor->counts.inputs; i++) {
        const TVMGraphExecutorNode *const node = &executor->nodes[executor->inputs[i]];
        const mg_text text = {node->name, node->name_length};
        if (mg_text_is(&text, param->name, param->name_length)) {
            return (int32_t)i;
        }
    }
    return -1;
}

static bool is_same_shape(const DLTensor *tensor, const mg_param *param)
{
    int32_t i;

    if (tensor->ndim != param->ndim) {
        return false;
    }
    for (i = 0; i < tensor->ndim; i++) {
        if ((uint64_t)tensor->shape[i] != mg_param_dim(param, i)) {
            return false;
        }
    }
    return mg_graph_tensor_bytes(tensor) == param->num_data;
}

static tvm_crt_error_t set_param(TVMGraphExecutor *executor, const mg_param *param)
{
    const int32_t index = param_index(executor, param);
    uint32_t entry;

    if (index < 0) {
        return kTvmErrorExecutorModuleNoSuchInput;
    }
    entry = input_entry(executor, index);
    if (!is_same_dtype(executor->tensors[entry].dtype, param->dtype)) {
        return kTvmErrorFunctionCallWrongArgType;
    }
    if (!is_same_shape(&executor->tensors[entry], param)) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    /* A second run would find something else there. */
    if (storage_of(executor, entry)->is_written != 0U) {
        return kTvmErrorGeneratedInvalidStorageId;
    }
    if (can_alias(executor, entry) &&
        is_aligned(param->data, storage_of(executor, entry)->alignment)) {
        alias(executor, entry, (uint8_t *)(uintptr_t)param->data);
        return kTvmErrorNoError;
    }
    return copy_in(executor, entry, param->data);
}

int TVMGraphExecutor_LoadParams(TVMGraphExecutor *executor, const char *param_blob,
                                const uint32_t param_size)
{
    mg_param_file file;
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t i;

    if (!mg_param_open(&file, (const uint8_t *)param_blob, param_size)) {
        return kTvmErrorExecutorParamsMalformed;
    }
    for (i = 0U; i < file.count && error == kTvmErrorNoError; i++) {
        mg_param param;
        error = mg_param_next(&file, &param) ? set_param(executor, &param)
                                             : kTvmErrorExecutorParamsMalformed;
    }
    if (error == kTvmErrorNoError && !mg_param_is_at_end(&file)) {
        error = kTvmErrorExecutorParamsMalformed;
    }
    return error;
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

int TVMGraphExecutor_RunNode(TVMGraphExecutor *executor, uint32_t node)
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
    int error = kTvmErrorNoError;
    uint32_t i;

    for (i = 0U; i < executor->counts.nodes && error == kTvmErrorNoError; i++) {
        error = TVMGraphExecutor_RunNode(executor, i);
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
