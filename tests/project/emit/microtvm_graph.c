/* An application in the form of TVM's CRT examples for the graph executor. It reads graph and
 * parameters from files, finds the system library by its name, and has its own workspace. */
#include <dlpack/dlpack.h>
#include <stdio.h>
#include <string.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/graph_executor.h>
#include <tvm/runtime/crt/packed_func.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>

static uint8_t g_crt_workspace[32 * 1024];
static tvm_workspace_t app_workspace;

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
  (void)dev;
  return StackMemoryManager_Allocate(&app_workspace, num_bytes, out_ptr);
}

tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
  (void)dev;
  return StackMemoryManager_Free(&app_workspace, ptr);
}

static char graph_json[8192];
static char params[8192] __attribute__((aligned(16)));

static size_t load(const char* name, char* data, size_t size) {
  FILE* file = fopen(name, "rb");
  size_t length = file != NULL ? fread(data, 1, size, file) : 0;
  if (file != NULL) {
    fclose(file);
  }
  return length;
}

int main(int argc, char** argv) {
  static int8_t input_data[32];
  static int8_t output_data[48];
  int64_t input_shape[4] = {1, 4, 4, 2};
  int64_t output_shape[4] = {1, 4, 4, 3};
  DLDevice dev = {kDLCPU, 0};
  DLDataType int8 = {kDLInt, 8, 1};
  DLTensor input = {input_data, dev, 4, int8, input_shape, NULL, 0};
  DLTensor output = {output_data, dev, 4, int8, output_shape, NULL, 0};
  TVMGraphExecutor* graph_executor = NULL;
  TVMPackedFunc pf;
  TVMArgs args = TVMArgs_Create(NULL, NULL, 0);
  size_t params_size, i;
  int k;

  if (argc != 3 || load(argv[1], graph_json, sizeof(graph_json) - 1) == 0) {
    return 1;
  }
  params_size = load(argv[2], params, sizeof(params));
  if (StackMemoryManager_Init(&app_workspace, g_crt_workspace, sizeof(g_crt_workspace)) != 0 ||
      TVMPlatformInitialize() != 0 || TVMInitializeRuntime() != 0 ||
      TVMPackedFunc_InitGlobalFunc(&pf, "runtime.SystemLib", &args) != 0 ||
      TVMPackedFunc_Call(&pf) != 0) {
    return 2;
  }
  TVMModuleHandle mod_syslib = TVMArgs_AsModuleHandle(&pf.ret_value, 0);
  for (k = 0; k < 2; k++) { /* memory is given back */
    if (TVMGraphExecutor_Create(graph_json, mod_syslib, &dev, &graph_executor) != 0 ||
        TVMGraphExecutor_LoadParams(graph_executor, params, (uint32_t)params_size) != 0) {
      return 3;
    }
    memset(input_data, 5, sizeof(input_data));
    TVMGraphExecutor_SetInput(graph_executor, "input0", &input);
    if (TVMGraphExecutor_Run(graph_executor) != 0 ||
        TVMGraphExecutor_GetOutput(graph_executor, 0, &output) != 0) {
      return 4;
    }
    for (i = 0; i < sizeof(output_data); i++) {
      printf("%d ", output_data[i]);
    }
    printf("\n");
    if (TVMGraphExecutor_Release(&graph_executor) != 0) {
      return 5;
    }
  }
  return 0;
}
