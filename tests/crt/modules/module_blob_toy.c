#include "module_blob_toy.h"

#include <stdlib.h>
#include <string.h>

void *toy_block(size_t nbytes)
{
    void *const block = malloc(nbytes);

    if (block == NULL && nbytes > 0U) {
        abort();
    }
    return block;
}

/* "toy" */

typedef struct {
    mg_text symbol;
    uint32_t value;
    uint32_t num_names;
    mg_stream names;
    const DLTensor **constants;
} toy;

static tvm_crt_error_t toy_load(mg_stream *payload, mg_pool *pool, void **module)
{
    toy *const made = mg_pool_take(pool, 1U, sizeof(toy));
    mg_text text;
    uint32_t i;

    if (made == NULL) {
        return kTvmErrorPlatformNoMemory;
    }
    mg_stream_string(payload, &made->symbol);
    mg_stream_string(payload, &text);
    made->value = text.length;
    made->num_names = mg_stream_count(payload, 8U);
    made->names = *payload;
    for (i = 0U; i < made->num_names; i++) {
        mg_stream_string(payload, &text);
    }
    if (payload->failed) {
        return kTvmErrorExecutorGraphMalformed;
    }
    made->constants = mg_pool_take(pool, made->num_names, sizeof(*made->constants));
    *module = made;
    return made->constants != NULL ? kTvmErrorNoError : kTvmErrorPlatformNoMemory;
}

static tvm_crt_error_t toy_find(const void *module, mg_text symbol, uint32_t *function)
{
    *function = 0U;
    return mg_text_same(((const toy *)module)->symbol, symbol) ? kTvmErrorNoError
                                                               : kTvmErrorFunctionNameNotFound;
}

static tvm_crt_error_t toy_init(void *module, uint32_t function, uint32_t index, mg_text name,
                                const DLTensor *constant)
{
    toy *const self = module;
    mg_stream names = self->names;
    mg_text expected = {NULL, 0U};
    uint32_t i;

    if (function != 0U || index >= self->num_names) {
        return kTvmErrorFunctionCallNumArguments;
    }
    for (i = 0U; i <= index; i++) {
        mg_stream_string(&names, &expected);
    }
    if (!mg_text_same(expected, name)) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    self->constants[index] = constant;
    return kTvmErrorNoError;
}

static int is_number(const DLTensor *tensor)
{
    return tensor->ndim == 1 && tensor->shape[0] == 1 && tensor->dtype.code == kDLInt &&
           tensor->dtype.bits == 32U && tensor->dtype.lanes == 1U;
}

static int32_t *number(const DLTensor *tensor)
{
    return tensor->data;
}

static tvm_crt_error_t add(const mg_module_call *call, uint32_t value)
{
    if (call->num_args != 2U) {
        return kTvmErrorFunctionCallNumArguments;
    }
    if (!is_number(&call->args[0]) || !is_number(&call->args[1])) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    *number(&call->args[1]) = (int32_t)((uint32_t)*number(&call->args[0]) + value);
    return kTvmErrorNoError;
}

static tvm_crt_error_t toy_run(void *module, uint32_t function, const mg_module_call *call)
{
    toy *const self = module;
    uint32_t sum = self->value;
    uint32_t i;

    if (function != 0U) {
        return kTvmErrorFunctionIndexInvalid;
    }
    for (i = 0U; i < self->num_names; i++) {
        if (self->constants[i] == NULL) {
            return kTvmErrorExecutorInputNotSet;
        }
        sum += (uint32_t)*number(self->constants[i]);
    }
    return add(call, sum);
}

/* "pair" */

typedef struct {
    mg_stream symbols;
    uint32_t count;
} pair;

static tvm_crt_error_t pair_load(mg_stream *payload, mg_pool *pool, void **module)
{
    pair *const made = mg_pool_take(pool, 1U, sizeof(pair));
    mg_text text;
    uint32_t i;

    if (made == NULL) {
        return kTvmErrorPlatformNoMemory;
    }
    made->count = mg_stream_count(payload, 8U);
    made->symbols = *payload;
    for (i = 0U; i < made->count; i++) {
        mg_stream_string(payload, &text);
    }
    *module = made;
    return kTvmErrorNoError; /* the stream records the failure */
}

static tvm_crt_error_t pair_find(const void *module, mg_text symbol, uint32_t *function)
{
    mg_stream symbols = ((const pair *)module)->symbols;
    uint32_t i;

    for (i = 0U; i < ((const pair *)module)->count; i++) {
        mg_text text;
        mg_stream_string(&symbols, &text);
        if (mg_text_same(text, symbol)) {
            *function = i;
            return kTvmErrorNoError;
        }
    }
    return kTvmErrorFunctionNameNotFound;
}

static tvm_crt_error_t pair_init(void *module, uint32_t function, uint32_t index, mg_text name,
                                 const DLTensor *constant)
{
    (void)module;
    (void)function;
    (void)index;
    (void)name;
    (void)constant;
    return kTvmErrorFunctionCallNumArguments;
}

static tvm_crt_error_t pair_run(void *module, uint32_t function, const mg_module_call *call)
{
    return function < ((const pair *)module)->count ? add(call, function)
                                                    : kTvmErrorFunctionIndexInvalid;
}

/* "greedy" */

static tvm_crt_error_t greedy_load(mg_stream *payload, mg_pool *pool, void **module)
{
    const uint32_t nbytes = mg_stream_unsigned(payload);

    *module = mg_pool_take(pool, nbytes, 1U);
    return *module != NULL ? kTvmErrorNoError : kTvmErrorPlatformNoMemory;
}

static tvm_crt_error_t greedy_find(const void *module, mg_text symbol, uint32_t *function)
{
    (void)module;
    (void)symbol;
    (void)function;
    return kTvmErrorFunctionNameNotFound;
}

static tvm_crt_error_t greedy_run(void *module, uint32_t function, const mg_module_call *call)
{
    (void)module;
    (void)function;
    (void)call;
    return kTvmErrorFunctionIndexInvalid;
}

/* Tables */

const uint32_t mg_loader_count = 5U;
const char *const mg_loader_names[] = {
    "runtime.module.", "runtime.module.loadbinary_dnnl_json", "runtime.module.loadbinary_toy",
    "runtime.module.loadbinary_pair", "runtime.module.loadbinary_greedy"};
const mg_loader_load mg_loader_loads[] = {NULL, toy_load, toy_load, pair_load, greedy_load};
const mg_loader_find mg_loader_finds[] = {NULL, toy_find, toy_find, pair_find, greedy_find};
const mg_loader_init mg_loader_inits[] = {NULL, toy_init, toy_init, pair_init, pair_init};
const mg_loader_run mg_loader_runs[] = {NULL, toy_run, toy_run, pair_run, greedy_run};

/* Constants and calls */

static int64_t one[1] = {1};
static int32_t values[TOY_CONSTANTS] = {1, 10, 100, 1000};

#define NUMBER(value)                                                                              \
    {                                                                                              \
        (value), {kDLCPU, 0}, 1, {kDLInt, 32U, 1U}, one, NULL, 0U                                  \
    }

const mg_module_constant toy_constants[TOY_CONSTANTS] = {{"c0", NUMBER(&values[0])},
                                                         {"c1", NUMBER(&values[1])},
                                                         {"c2", NUMBER(&values[2])},
                                                         {"c3", NUMBER(&values[3])}};

tvm_crt_error_t toy_call(const mg_modules *modules, mg_module_function function, int32_t x,
                         int32_t *y)
{
    DLTensor args[2] = {NUMBER(NULL), NUMBER(NULL)};
    mg_module_call call = {args, 2U, NULL, 0U, NULL};

    args[0].data = &x;
    args[1].data = y;
    return mg_modules_run(modules, function, &call);
}
