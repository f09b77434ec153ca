/* A program in the form that TVM's documentation tells its users to write. It has nothing of
 * microgen's. */
#include <dlpack/dlpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/graph_executor.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/crt/packed_func.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>

#define TVM_CCALL(call)                                                                            \
    do {                                                                                           \
        tvm_crt_error_t status = (tvm_crt_error_t)(call);                                          \
        if (status != kTvmErrorNoError) {                                                          \
            fprintf(stderr, "line %d: %s\n", __LINE__, TVMGetLastError());                         \
            exit((int)status);                                                                     \
        }                                                                                          \
    } while (0)

static uint8_t memory[4096];
static tvm_workspace_t workspace;

/* The program's own memory instead of the runtime's. */
tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void **out_ptr)
{
    (void)dev;
    return StackMemoryManager_Allocate(&workspace, num_bytes, out_ptr);
}

tvm_crt_error_t TVMPlatformMemoryFree(void *ptr, DLDevice dev)
{
    (void)dev;
    return StackMemoryManager_Free(&workspace, ptr);
}

static int doubled(TVMValue *args, int *type_codes, int num_args, TVMValue *out_ret_value,
                   int *out_ret_tcode, void *resource_handle)
{
    float *from = ((DLTensor *)args[0].v_handle)->data;
    float *to = ((DLTensor *)args[1].v_handle)->data;
    float *scratch;
    int i;

    (void)type_codes;
    (void)num_args;
    (void)out_ret_value;
    (void)out_ret_tcode;
    (void)resource_handle;
    scratch = TVMBackendAllocWorkspace(kDLCPU, 0, 12U, kDLFloat, 32);
    if (scratch == NULL) {
        return -1;
    }
    for (i = 0; i < 3; i++) {
        scratch[i] = 2.0F * from[i];
    }
    memcpy(to, scratch, 12U);
    return TVMBackendFreeWorkspace(kDLCPU, 0, scratch);
}

static const TVMBackendPackedCFunc functions[] = {doubled};
static const TVMFuncRegistry registry = {"\1\0doubled\0", functions};
static const TVMModule module = {&registry};

const TVMModule *TVMSystemLibEntryPoint(void)
{
    return &module;
}

static const char graph_json[] =
    "{\"nodes\": [{\"op\": \"null\", \"name\": \"x\", \"inputs\": []}, {\"op\": \"tvm_op\", "
    "\"name\": \"y\", \"attrs\": {\"num_outputs\": \"1\", \"num_inputs\": \"1\", "
    "\"flatten_data\": \"0\", \"func_name\": \"doubled\"}, \"inputs\": [[0, 0, 0]]}], "
    "\"arg_nodes\": [0], \"heads\": [[1, 0, 0]], \"attrs\": {\"dltype\": [\"list_str\", "
    "[\"float32\", \"float32\"]], \"shape\": [\"list_shape\", [[3], [3]]], \"storage_id\": "
    "[\"list_int\", [0, 1]]}, \"node_row_ptr\": [0, 1, 2]}";

int main(void)
{
    TVMGraphExecutor *graph_executor = NULL;
    DLDevice dev = {kDLCPU, 0};
    TVMPackedFunc pf;
    TVMArgs args = TVMArgs_Create(NULL, NULL, 0);
    TVMModuleHandle mod_syslib;
    float input_storage[3] = {1.0F, 2.0F, 4.0F};
    float output_storage[3];
    int64_t shape[] = {3};
    DLTensor tensor = {input_storage, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, NULL, 0};

    TVM_CCALL(StackMemoryManager_Init(&workspace, memory, sizeof(memory)));
    TVM_CCALL(TVMInitializeRuntime());
    TVM_CCALL(TVMPackedFunc_InitGlobalFunc(&pf, "runtime.SystemLib", &args));
    TVM_CCALL(TVMPackedFunc_Call(&pf));
    mod_syslib = TVMArgs_AsModuleHandle(&pf.ret_value, 0);
    TVM_CCALL(TVMGraphExecutor_Create(graph_json, mod_syslib, &dev, &graph_executor));
    TVMGraphExecutor_SetInput(graph_executor, "x", &tensor);
    TVMGraphExecutor_Run(graph_executor);
    tensor.data = output_storage;
    TVM_CCALL(TVMGraphExecutor_GetOutput(graph_executor, 0, &tensor));
    TVM_CCALL(TVMGraphExecutor_Release(&graph_executor));
    if (output_storage[2] == 8.0F && workspace.next_alloc == workspace.workspace) {
        printf("ok\n");
    }
    return 0;
}
