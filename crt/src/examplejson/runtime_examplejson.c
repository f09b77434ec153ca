/* SPDX-License-Identifier: Apache-2.0 */
#include "examplejson/runtime_examplejson.h"

#include "examplejson/examplejson_graph.h"
#include "microgen/packed.h"

#include <string.h>

typedef struct {
    mg_examplejson_function *functions;
    mg_text source;
} module_state;

tvm_crt_error_t mg_examplejson_load(mg_stream *payload, mg_pool *pool, void **module)
{
    module_state *const state = mg_pool_take(pool, 1U, sizeof(*state));

    if (state == NULL) {
        return kTvmErrorPlatformNoMemory;
    }
    mg_stream_string(payload, &state->source);
    if (payload->failed) {
        return kTvmErrorExecutorGraphMalformed;
    }
    *module = state;
    return mg_examplejson_read(state->source, pool, &state->functions);
}

mg_text mg_examplejson_source(const void *module)
{
    return ((const module_state *)module)->source;
}

tvm_crt_error_t mg_examplejson_find(const void *module, mg_text symbol, uint32_t *function)
{
    const mg_examplejson_function *at = ((const module_state *)module)->functions;
    uint32_t number;

    for (number = 0U; at != NULL; number++, at = at->next) {
        if (mg_text_same(at->symbol, symbol)) {
            *function = number;
            return kTvmErrorNoError;
        }
    }
    return kTvmErrorFunctionNameNotFound;
}

/* Function `number`, or NULL if there is none. */
static const mg_examplejson_function *function_of(const void *module, uint32_t number)
{
    const mg_examplejson_function *function = ((const module_state *)module)->functions;

    for (; number > 0U && function != NULL; number--) {
        function = function->next;
    }
    return function;
}

tvm_crt_error_t mg_examplejson_init(void *module, uint32_t function, uint32_t index, mg_text name,
                                    const DLTensor *constant)
{
    (void)index;
    (void)name;
    (void)constant;
    return function_of(module, function) == NULL ? kTvmErrorFunctionIndexInvalid
                                                 : kTvmErrorFunctionCallInvalidArg;
}

static tvm_crt_error_t check_argument(const DLTensor *tensor, const mg_examplejson_node *node)
{
    const mg_tensor_spec spec = {node->shape, node->ndim, {kDLFloat, 32U, 1U}};
    TVMValue value;
    void *data;

    value.v_handle = (void *)(uintptr_t)tensor; /* packed functions do not take const */
    return (tvm_crt_error_t)mg_packed_tensor(&value, kTVMDLTensorHandle, &spec, &data);
}

static tvm_crt_error_t check_call(const mg_examplejson_function *function,
                                  const mg_module_call *call)
{
    tvm_crt_error_t error = kTvmErrorNoError;
    const mg_examplejson_output *output;
    const mg_examplejson_node *node;
    const DLTensor *tensor = call->args;

    if (call->num_args != function->num_inputs + function->num_outputs) {
        return kTvmErrorFunctionCallNumArguments;
    }
    if (call->workspace_bytes < function->workspace_bytes) {
        return kTvmErrorPlatformNoMemory;
    }
    for (node = function->nodes; node != NULL && error == kTvmErrorNoError; node = node->next) {
        if (node->op == MG_EXAMPLEJSON_INPUT) {
            error = check_argument(tensor++, node);
        }
    }
    for (output = function->outputs; output != NULL && error == kTvmErrorNoError;
         output = output->next) {
        error = check_argument(tensor++, output->node);
    }
    return error;
}

static uint8_t *elements(const DLTensor *tensor)
{
    return (uint8_t *)tensor->data + (size_t)tensor->byte_offset;
}

/* The address of a node's value. It is aligned, because the arguments were checked. */
static void *value_of(const mg_examplejson_node *node, const mg_module_call *call)
{
    return node->storage == MG_EXAMPLEJSON_ARGUMENT ? elements(&call->args[node->place])
                                                    : call->workspace + node->place;
}

static void compute(const mg_examplejson_node *node, const mg_module_call *call)
{
    const float *const a = value_of(node->operands[0], call);
    const float *const b = value_of(node->operands[1], call);
    float *const y = value_of(node, call);
    const uint32_t count = node->nbytes / (uint32_t)sizeof(float);
    uint32_t i;

    switch (node->op) {
    case MG_EXAMPLEJSON_ADD:
        for (i = 0U; i < count; i++) {
            y[i] = a[i] + b[i];
        }
        break;
    case MG_EXAMPLEJSON_SUB:
        for (i = 0U; i < count; i++) {
            y[i] = a[i] - b[i];
        }
        break;
    case MG_EXAMPLEJSON_MUL:
        for (i = 0U; i < count; i++) {
            y[i] = a[i] * b[i];
        }
        break;
    default: /* an input */
        break;
    }
}

tvm_crt_error_t mg_examplejson_run(void *module, uint32_t function, const mg_module_call *call)
{
    const mg_examplejson_function *const called = function_of(module, function);
    const mg_examplejson_output *output;
    const mg_examplejson_node *node;
    const DLTensor *result;
    tvm_crt_error_t error;

    if (called == NULL) {
        return kTvmErrorFunctionIndexInvalid;
    }
    error = check_call(called, call);
    if (error != kTvmErrorNoError) {
        return error;
    }
    for (node = called->nodes; node != NULL; node = node->next) {
        if (node->op != MG_EXAMPLEJSON_INPUT) {
            compute(node, call);
        }
    }
    /* Outputs that are also inputs or other outputs still have to be copied. */
    result = call->args + called->num_inputs;
    for (output = called->outputs; output != NULL; output = output->next, result++) {
        if (elements(result) != (uint8_t *)value_of(output->node, call)) {
            (void)memcpy(elements(result), value_of(output->node, call), output->node->nbytes);
        }
    }
    return kTvmErrorNoError;
}
