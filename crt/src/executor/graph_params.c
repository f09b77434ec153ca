/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/graph_parts.h"
#include "modules/param_file.h"

static int32_t param_index(const TVMGraphExecutor *executor, const mg_param *param)
{
    uint32_t i;

    for (i = 0U; i < executor->counts.inputs; i++) {
        const TVMGraphExecutorNode *const node = &executor->nodes[executor->inputs[i]];
        const mg_text text = {node->name, node->name_length};
        if (mg_text_is(&text, param->name.at, param->name.length)) {
            return (int32_t)i;
        }
    }
    return -1;
}

static bool is_same_shape(const DLTensor *tensor, const mg_param *param)
{
    mg_stream shape = param->shape;
    uint32_t i;

    if ((uint32_t)tensor->ndim != param->ndim) {
        return false;
    }
    for (i = 0U; i < param->ndim; i++) {
        if ((uint64_t)tensor->shape[i] != mg_stream_number(&shape, 8U)) {
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
    entry = executor->nodes[executor->inputs[index]].first_entry;
    if (!mg_graph_is_same_dtype(executor->tensors[entry].dtype, param->dtype)) {
        return kTvmErrorFunctionCallWrongArgType;
    }
    if (!is_same_shape(&executor->tensors[entry], param)) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    /* A node overwrites this storage, so a second run would not find the parameter. */
    if (executor->storages[executor->storage_ids[entry]].is_written != 0U) {
        return kTvmErrorGeneratedInvalidStorageId;
    }
    if (mg_graph_can_alias(executor, entry) && mg_graph_is_aligned(executor, entry, param->data)) {
        mg_graph_alias(executor, entry, (uint8_t *)(uintptr_t)param->data);
        return kTvmErrorNoError;
    }
    return mg_graph_copy_in(executor, entry, param->data);
}

tvm_crt_error_t mg_graph_load_params(TVMGraphExecutor *executor, const uint8_t *data, size_t size)
{
    mg_param_file file;
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t i;

    if (!mg_param_open(&file, data, size)) {
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
