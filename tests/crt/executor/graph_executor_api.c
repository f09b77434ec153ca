/* Tests the graph executor's interface, call by call. Prints "ok", or the line of the check that
 * failed. */
#include "../executor_check.h"
#include "tvm/runtime/crt/graph_executor.h"
#include "tvm/runtime/crt/platform_memory.h"

#include <string.h>

static int calls;

/* y = x + 1, int16. */
static int increment(TVMValue *args, int *type_codes, int num_args, TVMValue *ret, int *ret_code,
                     void *resource)
{
    const DLTensor *x = args[0].v_handle;
    const DLTensor *y = args[1].v_handle;
    int i;

    CHECK(num_args == 2 && type_codes[0] == kTVMDLTensorHandle && type_codes[1] == 7);
    CHECK(ret->v_handle == NULL && *ret_code == kTVMNullptr && resource != NULL);
    CHECK(x->strides == NULL && x->byte_offset == 0U && x->device.device_type == kDLCPU);
    for (i = 0; i < 4; i++) {
        ((int16_t *)y->data)[i] = (int16_t)(((const int16_t *)x->data)[i] + 1);
    }
    calls++;
    return 0;
}

static const TVMBackendPackedCFunc functions[] = {increment};
static const TVMFuncRegistry registry = {"\1\0increment\0", functions};
static const TVMModule module = {&registry};
static const DLDevice cpu = {kDLCPU, 0};

#define OP(name, input)                                                                            \
    "{\"op\": \"tvm_op\", \"name\": \"" name "\", \"inputs\": [[" input ", 0, 0]], "               \
    "\"attrs\": {\"func_name\": \"increment\", \"num_inputs\": \"1\", \"num_outputs\": \"1\", "    \
    "\"flatten_data\": \"0\"}}"

/* x -> first -> view (reshape) -> second; `ids` are the storage ids. */
#define GRAPH(ids)                                                                                 \
    "{\"nodes\": [{\"op\": \"null\", \"name\": \"x\", \"inputs\": []}, " OP(                       \
        "first",                                                                                   \
        "0") ", "                                                                                  \
             "{\"op\": \"tvm_op\", \"name\": \"view\", \"inputs\": [[1, 0, 0]], \"attrs\": "       \
             "{\"func_name\": \"__nop\", \"num_inputs\": \"1\", \"num_outputs\": \"1\", "          \
             "\"flatten_data\": \"0\"}}, " OP(                                                     \
                 "second",                                                                         \
                 "2") "], \"arg_nodes\": [0], "                                                    \
                      "\"heads\": [[3, 0, 0], [2, 0, 0]], \"attrs\": {\"dltype\": [\"list_str\", " \
                      "[\"int16\", \"int16\", \"int16\", \"int16\"]], \"shape\": "                 \
                      "[\"list_shape\", "                                                          \
                      "[[1, 4], [1, 4], [2, 2], [2, 2]]], \"storage_id\": [\"list_int\", " ids     \
                      "]}, "                                                                       \
                      "\"node_row_ptr\": [0, 1, 2, 3, 4]}"

static const char graph[] = GRAPH("[0, 1, 1, 2]");

/* Counts of the graph, in TVMGraphExecutorCounts' order, and its two tensors. */
#define TABLES TVM_GRAPH_EXECUTOR_TABLE_BYTES(4, 4, 3, 8, 6, 2, 1, 2)
#define POOL_BYTES (TABLES + 2U * TVM_GRAPH_EXECUTOR_ALIGNED(8))

static uint8_t pool[POOL_BYTES] __attribute__((aligned(16)));
static uint8_t large[2][POOL_BYTES + 64U] __attribute__((aligned(16)));

static TVMGraphExecutor *create(const char *text, uint8_t *memory, size_t size)
{
    TVMGraphExecutor *executor = NULL;

    CHECK(TVMGraphExecutor_CreateIn(memory, size, text, strlen(text), &module, cpu, &executor) ==
          0);
    return executor;
}

static DLTensor tensor(int16_t *data, int64_t *shape, int32_t ndim)
{
    const DLDataType int16 = {kDLInt, 16U, 1U};
    DLTensor result;

    (void)memset(&result, 0, sizeof(result));
    result.data = data;
    result.device = cpu;
    result.ndim = ndim;
    result.dtype = int16;
    result.shape = shape;
    return result;
}

static int64_t row[] = {1, 4};
static int64_t square[] = {2, 2};

static void test_the_pool_is_as_large_as_computed(void)
{
    TVMGraphExecutor *executor = create(graph, pool, sizeof(pool));

    CHECK(TVMGraphExecutor_GetPoolBytesUsed(executor) == sizeof(pool));
    CHECK(TVMGraphExecutor_CreateIn(pool, sizeof(pool) - 1U, graph, sizeof(graph) - 1U, &module,
                                    cpu, &executor) == kTvmErrorPlatformNoMemory);
    CHECK(executor == NULL);
    CHECK(TVMGraphExecutor_CreateIn(pool, TABLES - 1U, graph, sizeof(graph) - 1U, &module, cpu,
                                    &executor) == kTvmErrorPlatformNoMemory);
    CHECK(TVMGraphExecutor_CreateIn(pool + 1, sizeof(pool) - 1U, graph, sizeof(graph) - 1U, &module,
                                    cpu, &executor) == kTvmErrorPlatformNoMemory);
    CHECK(TVMGraphExecutor_CreateIn(NULL, 0U, graph, sizeof(graph) - 1U, &module, cpu, &executor) ==
          kTvmErrorPlatformNoMemory);
    (void)create(graph, large[0] + 1, sizeof(pool) + 15U);
}

static void test_inputs_by_reference(void)
{
    TVMGraphExecutor *executor = create(graph, pool, sizeof(pool));
    int16_t data[4] = {1, 2, 3, 4};
    int16_t result[4] = {0};
    DLTensor x = tensor(data, row, 2);
    DLTensor y = tensor(result, square, 2);

    CHECK(TVMGraphExecutor_GetNumInputs(executor) == 1);
    CHECK(TVMGraphExecutor_GetNumOutputs(executor) == 2);
    CHECK(TVMGraphExecutor_GetInputIndex(executor, "x") == 0);
    CHECK(TVMGraphExecutor_GetInputIndex(executor, "xx") == -1);
    CHECK(TVMGraphExecutor_GetInputIndex(executor, "") == -1);
    CHECK(TVMGraphExecutor_GetInputIndex(executor, "first") == -1);
    CHECK(TVMGraphExecutor_Run(executor) == kTvmErrorExecutorInputNotSet);
    CHECK(TVMGraphExecutor_SetInput(executor, "x", &x) == 0);
    CHECK(TVMGraphExecutor_Run(executor) == 0);
    CHECK(TVMGraphExecutor_GetOutput(executor, 0, &y) == 0);
    CHECK(result[0] == 3 && result[3] == 6);
    /* As with TVM's C runtime, one SetInput serves many runs. */
    data[0] = 100;
    CHECK(TVMGraphExecutor_Run(executor) == 0);
    CHECK(TVMGraphExecutor_GetOutput(executor, 0, &y) == 0);
    CHECK(result[0] == 102);
    CHECK(TVMGraphExecutor_GetOutput(executor, 1, &y) == 0);
    CHECK(result[0] == 101);
}

static void test_inputs_by_value(void)
{
    TVMGraphExecutor *executor = create(graph, large[0], sizeof(large[0]));
    const DLTensor *input = NULL;
    const DLTensor *output = NULL;
    int16_t data[5] = {1, 2, 3, 4, 5};
    DLTensor x = tensor(data, row, 2);

    CHECK(TVMGraphExecutor_GetInput(executor, 0, &input) == 0 && input->data == NULL);
    x.byte_offset = 2U;
    CHECK(TVMGraphExecutor_CopyInput(executor, 0, &x) == 0);
    data[1] = 100;
    CHECK(TVMGraphExecutor_Run(executor) == 0);
    CHECK(TVMGraphExecutor_GetOutputZeroCopy(executor, 0, &output) == 0);
    CHECK(((int16_t *)output->data)[0] == 4 && output->ndim == 2 && output->shape[0] == 2);
    CHECK(TVMGraphExecutor_GetPoolBytesUsed(executor) == POOL_BYTES + 16U);
    CHECK(TVMGraphExecutor_CopyInput(executor, 0, &x) == 0);
    CHECK(TVMGraphExecutor_GetPoolBytesUsed(executor) == POOL_BYTES + 16U);
    executor = create(graph, pool, sizeof(pool));
    CHECK(TVMGraphExecutor_CopyInput(executor, 0, &x) == kTvmErrorPlatformNoMemory);
}

static void test_tensors_that_do_not_fit(void)
{
    TVMGraphExecutor *executor = create(graph, large[0], sizeof(large[0]));
    int16_t data[8] __attribute__((aligned(4))) = {0};
    int64_t five[] = {5};
    int64_t negative[] = {-2, -2};
    int64_t strides[] = {4, 1};
    int64_t columns[] = {1, 2};
    DLTensor x = tensor(data, row, 2);
    DLTensor y = tensor(data, square, 2);

    CHECK(TVMGraphExecutor_SetInput(executor, "y", &x) == kTvmErrorExecutorModuleNoSuchInput);
    CHECK(TVMGraphExecutor_SetInput(executor, "x", NULL) == kTvmErrorFunctionCallInvalidArg);
    CHECK(TVMGraphExecutor_CopyInput(executor, 1, &x) == kTvmErrorExecutorModuleNoSuchInput);
    CHECK(TVMGraphExecutor_CopyInput(executor, -1, &x) == kTvmErrorExecutorModuleNoSuchInput);
    x.byte_offset = 1U;
    CHECK(TVMGraphExecutor_SetInput(executor, "x", &x) == kTvmErrorFunctionCallInvalidArg);
    x = tensor(data, five, 1);
    CHECK(TVMGraphExecutor_SetInput(executor, "x", &x) == kTvmErrorFunctionCallInvalidArg);
    x = tensor(data, negative, 2);
    CHECK(TVMGraphExecutor_SetInput(executor, "x", &x) == kTvmErrorFunctionCallInvalidArg);
    x = tensor(data, row, 2);
    x.dtype.bits = 8U;
    CHECK(TVMGraphExecutor_SetInput(executor, "x", &x) == kTvmErrorFunctionCallWrongArgType);
    x = tensor(NULL, row, 2);
    CHECK(TVMGraphExecutor_SetInput(executor, "x", &x) == kTvmErrorFunctionCallInvalidArg);
    x = tensor(data, square, 2);
    x.strides = columns;
    CHECK(TVMGraphExecutor_SetInput(executor, "x", &x) == kTvmErrorFunctionCallInvalidArg);
    x = tensor(data, row, 2);
    x.strides = strides;
    CHECK(TVMGraphExecutor_SetInput(executor, "x", &x) == 0);
    CHECK(TVMGraphExecutor_GetOutput(executor, 2, &y) == kTvmErrorFunctionCallInvalidArg);
    CHECK(TVMGraphExecutor_GetOutput(executor, -1, &y) == kTvmErrorFunctionCallInvalidArg);
    y.shape = row;
    CHECK(TVMGraphExecutor_GetOutput(executor, 0, &y) == kTvmErrorFunctionCallInvalidArg);
    y.shape = square;
    y.dtype.code = kDLUInt;
    CHECK(TVMGraphExecutor_GetOutput(executor, 0, &y) == kTvmErrorFunctionCallWrongArgType);
}

static void test_an_input_whose_storage_is_written_is_copied_only(void)
{
    /* The second operator writes where the input was. */
    TVMGraphExecutor *executor = create(GRAPH("[0, 1, 1, 0]"), large[0], sizeof(large[0]));
    const DLTensor *output = NULL;
    int16_t data[4] = {1, 2, 3, 4};
    DLTensor x = tensor(data, row, 2);

    CHECK(TVMGraphExecutor_SetInput(executor, "x", &x) == kTvmErrorGeneratedInvalidStorageId);
    CHECK(TVMGraphExecutor_CopyInput(executor, 0, &x) == 0);
    CHECK(TVMGraphExecutor_Run(executor) == 0);
    CHECK(TVMGraphExecutor_GetOutputZeroCopy(executor, 0, &output) == 0);
    CHECK(((int16_t *)output->data)[3] == 6 && data[3] == 4);
}

static void test_executors_share_nothing(void)
{
    TVMGraphExecutor *a = create(graph, large[0], sizeof(large[0]));
    TVMGraphExecutor *b = create(GRAPH("[2, 0, 0, 1]"), large[1], sizeof(large[1]));
    const DLTensor *y = NULL;
    int16_t data[2][4] = {{0}, {50}};
    DLTensor x = tensor(data[0], row, 2);

    CHECK(TVMGraphExecutor_SetInput(a, "x", &x) == 0);
    x.data = data[1];
    CHECK(TVMGraphExecutor_SetInput(b, "x", &x) == 0);
    CHECK(TVMGraphExecutor_Run(a) == 0 && TVMGraphExecutor_Run(b) == 0);
    CHECK(TVMGraphExecutor_GetOutputZeroCopy(a, 0, &y) == 0 && ((int16_t *)y->data)[0] == 2);
    CHECK(TVMGraphExecutor_GetOutputZeroCopy(b, 0, &y) == 0 && ((int16_t *)y->data)[0] == 52);
    CHECK(TVMGraphExecutor_Release(&a) == 0 && a == NULL);
    CHECK(TVMGraphExecutor_Run(b) == 0);
}

static void test_debug_runs(void)
{
    TVMGraphExecutor *executor = create(graph, large[0], sizeof(large[0]));
    const DLTensor *output = NULL;
    double seconds[5] = {-1.0, -1.0, -1.0, -1.0, -1.0};
    int16_t data[4] = {1, 2, 3, 4};
    char name[7];
    DLTensor x = tensor(data, row, 2);

    CHECK(TVMGraphExecutor_RunDebug(executor, seconds, 4U) == kTvmErrorExecutorInputNotSet);
    CHECK(TVMGraphExecutor_CopyInput(executor, 0, &x) == 0);
    CHECK(TVMGraphExecutor_GetNumNodes(executor) == 4U);
    CHECK(TVMGraphExecutor_RunDebug(executor, seconds, 3U) == kTvmErrorBufferTooSmall);
    calls = 0;
    CHECK(TVMGraphExecutor_RunDebug(executor, seconds, 5U) == 0 && calls == 2);
    CHECK(seconds[0] == 0.0 && seconds[1] > 0.0 && seconds[2] == 0.0 && seconds[3] > 0.0);
    CHECK(TVMGraphExecutor_GetNodeName(executor, 3U, name, sizeof(name)) == 0);
    CHECK(strcmp(name, "second") == 0);
    CHECK(TVMGraphExecutor_GetNodeName(executor, 3U, name, 6U) == kTvmErrorBufferTooSmall);
    CHECK(TVMGraphExecutor_GetNodeName(executor, 3U, name, 0U) == kTvmErrorBufferTooSmall);
    CHECK(TVMGraphExecutor_GetNodeName(executor, 4U, name, 7U) == kTvmErrorFunctionCallInvalidArg);
    calls = 0;
    CHECK(TVMGraphExecutor_RunNode(executor, 0U) == 0 && calls == 0);
    CHECK(TVMGraphExecutor_RunNode(executor, 1U) == 0 && calls == 1);
    CHECK(TVMGraphExecutor_RunNode(executor, 4U) == kTvmErrorFunctionCallInvalidArg);
    CHECK(TVMGraphExecutor_GetNodeOutput(executor, 1U, 0U, &output) == 0);
    CHECK(((int16_t *)output->data)[2] == 4);
    CHECK(TVMGraphExecutor_GetNodeOutput(executor, 1U, 1U, &output) != 0);
}

static void test_memory_of_the_platform(void)
{
    static uint8_t memory[2U * sizeof(large[0])];
    TVMGraphExecutor *executor = NULL;
    TVMModuleHandle handle = NULL;
    int16_t data[4] = {1, 2, 3, 4};
    DLTensor x = tensor(data, row, 2);
    void *rest = NULL;

    CHECK(TVMGraphExecutor_Create(graph, handle, &cpu, &executor) ==
          kTvmErrorExecutorModuleBadContext);
    CHECK(TVMModCreateFromCModule(&module, &handle) == 0);
    CHECK(TVMGraphExecutor_Create(graph, handle, &cpu, &executor) == kTvmErrorPlatformNoMemory);
    CHECK(TVMPlatformMemorySetPool(memory, sizeof(memory)) == 0);
    CHECK(TVMGraphExecutor_Create("{}", handle, &cpu, &executor) ==
          kTvmErrorExecutorGraphMalformed);
    CHECK(TVMGraphExecutor_Create(graph, handle, &cpu, &executor) == 0);
    CHECK(TVMGraphExecutor_CopyInput(executor, 0, &x) == 0);
    CHECK(TVMGraphExecutor_Run(executor) == 0);
    CHECK(TVMGraphExecutor_Release(&executor) == 0 && executor == NULL);
    CHECK(TVMGraphExecutor_Release(&executor) == 0);
    /* All of it is free again. */
    CHECK(TVMPlatformMemoryAllocate(sizeof(memory) - 32U, cpu, &rest) == 0);
    CHECK(TVMPlatformMemoryFree(rest, cpu) == 0);
    /* Room for what nodes write, not for a copy of the input. */
    CHECK(TVMPlatformMemorySetPool(large[0], POOL_BYTES) == 0);
    CHECK(TVMGraphExecutor_Create(graph, handle, &cpu, &executor) == 0);
    CHECK(TVMGraphExecutor_CopyInput(executor, 0, &x) == kTvmErrorPlatformNoMemory);
    CHECK(TVMGraphExecutor_SetInput(executor, "x", &x) == 0);
    CHECK(TVMGraphExecutor_Run(executor) == 0);
    CHECK(TVMGraphExecutor_Release(&executor) == 0);
    CHECK(TVMPlatformMemorySetPool(large[0], POOL_BYTES - 1U) == 0);
    CHECK(TVMGraphExecutor_Create(graph, handle, &cpu, &executor) == kTvmErrorPlatformNoMemory);
    CHECK(TVMPlatformMemoryAllocate(TABLES, cpu, &rest) == 0);
}

int main(void)
{
    test_the_pool_is_as_large_as_computed();
    test_inputs_by_reference();
    test_inputs_by_value();
    test_tensors_that_do_not_fit();
    test_an_input_whose_storage_is_written_is_copied_only();
    test_executors_share_nothing();
    test_debug_runs();
    test_memory_of_the_platform();
    return finish();
}
