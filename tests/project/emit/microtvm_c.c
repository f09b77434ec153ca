/* An application in the form of microTVM's guide for the AOT executor's C interface. It has memory
 * for a workspace, the platform's functions, and structs of pointers. */
#include <dlpack/dlpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>
#include <tvmgen_default.h>

#define WORKSPACE_SIZE (16 * 1024)

static uint8_t g_aot_memory[WORKSPACE_SIZE];
static uint8_t own_workspace[TVMGEN_DEFAULT_WORKSPACE_SIZE];
tvm_workspace_t app_workspace;

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
  (void)dev;
  return StackMemoryManager_Allocate(&app_workspace, num_bytes, out_ptr);
}

tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
  (void)dev;
  return StackMemoryManager_Free(&app_workspace, ptr);
}

void TVMPlatformAbort(tvm_crt_error_t error) {
  fprintf(stderr, "TVMPlatformAbort: %x\n", (unsigned)error);
  exit(-1);
}

TVM_DLL int TVMFuncRegisterGlobal(const char* name, TVMFunctionHandle f, int override) {
  (void)name;
  (void)f;
  (void)override;
  return 0;
}

int main(void) {
  static int8_t input_data[TVMGEN_DEFAULT_INPUT0_SIZE];
  static int8_t output_data[TVMGEN_DEFAULT_OUTPUT_SIZE];
  DLDevice dev = {kDLCPU, 0};
  void* block;
  size_t i;

  StackMemoryManager_Init(&app_workspace, g_aot_memory, WORKSPACE_SIZE);
  if (TVMPlatformMemoryAllocate(sizeof own_workspace, dev, &block) != kTvmErrorNoError ||
      TVMPlatformMemoryFree(block, dev) != kTvmErrorNoError) {
    return 1;
  }
  memset(own_workspace, 0, sizeof own_workspace);
  memset(input_data, 5, sizeof input_data);
  struct tvmgen_default_inputs inputs = {.input0 = (void*)&input_data};
  struct tvmgen_default_outputs outputs = {.output = (void*)&output_data};
  int ret_val = tvmgen_default_run(&inputs, &outputs);
  if (ret_val != 0) {
    TVMPlatformAbort(kTvmErrorPlatformCheckFailure);
  }
  for (i = 0; i < sizeof output_data; i++) {
    printf("%d ", output_data[i]);
  }
  return 0;
}
