/* An application that finds the model by its name, on a platform with the page allocator. */
#include <dlpack/dlpack.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/error_codes.h>
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/packed_func.h>
#include <tvm/runtime/crt/page_allocator.h>
#include <tvm/runtime/metadata_types.h>

#include "inputs.h"
#include "outputs.h"

static uint8_t memory[TVM_WORKSPACE_SIZE_BYTES];
static MemoryManagerInterface* memory_manager;

void TVMPlatformAbort(tvm_crt_error_t error_code) {
  printf("abort %d\n", (int)error_code);
  exit(1);
}

void TVMLogf(const char* msg, ...) {
  va_list args;
  va_start(args, msg);
  vprintf(msg, args);
  va_end(args);
}

tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void** out_ptr) {
  return memory_manager->Allocate(memory_manager, num_bytes, dev, out_ptr);
}

tvm_crt_error_t TVMPlatformMemoryFree(void* ptr, DLDevice dev) {
  return memory_manager->Free(memory_manager, ptr, dev);
}

tvm_crt_error_t TVMPlatformInitialize() {
  int status = PageMemoryManagerCreate(&memory_manager, memory, sizeof(memory), 8);
  return status != 0 ? kTvmErrorPlatformMemoryManagerInitialized : kTvmErrorNoError;
}

static DLTensor Tensor(const struct TVMTensorInfo* info, DLDevice dev) {
  DLTensor tensor = {NULL, dev, (int32_t)info->num_shape, info->dtype, NULL, NULL, 0};
  size_t num_bytes = tensor.dtype.bits / 8;
  void* block;

  for (int64_t i = 0; i < info->num_shape; i++) {
    num_bytes *= (size_t)info->shape[i];
  }
  CHECK_EQ(TVMPlatformMemoryAllocate(num_bytes, dev, &block), kTvmErrorNoError, "%s", info->name);
  tensor.data = block;
  tensor.shape = (int64_t*)(uintptr_t)info->shape;
  return tensor;
}

int main(void) {
  TVMPackedFunc pf;
  TVMArgs args = TVMArgs_Create(NULL, NULL, 0);
  TVMValue values[2];
  uint32_t tcodes[2] = {kTVMDLTensorHandle, kTVMDLTensorHandle};
  DLDevice dev = {kDLCPU, 0};
  TVMModuleHandle mod;

  CHECK_EQ(TVMPlatformInitialize(), kTvmErrorNoError, "no memory");
  CHECK_EQ(TVMInitializeRuntime(), kTvmErrorNoError, "no runtime");
  CHECK_EQ(TVMPackedFunc_InitGlobalFunc(&pf, "runtime.SystemLib", &args), 0, "no library");
  CHECK_EQ(pf.Call(&pf), 0, "no module");
  mod = TVMArgs_AsModuleHandle(&pf.ret_value, 0);

  CHECK_EQ(TVMPackedFunc_InitModuleFunc(&pf, mod, "tvmgen_detection_get_c_metadata", &args), 0,
           "no metadata");
  CHECK_EQ(pf.Call(&pf), 0, "no metadata");
  const struct TVMMetadata* metadata = pf.ret_value.values[0].v_handle;
  DLTensor in = Tensor(&metadata->inputs[0], dev);
  DLTensor out = Tensor(&metadata->outputs[0], dev);
  for (size_t i = 0; i < sizeof(input); i++) {
    ((int8_t*)in.data)[i] = input[i];
  }

  values[0].v_handle = &in;
  values[1].v_handle = &out;
  args = TVMArgs_Create(values, tcodes, 2);
  CHECK_EQ(TVMPackedFunc_InitModuleFunc(&pf, mod, "tvmgen_detection_run", &args), 0, "no run");
  CHECK_EQ(pf.Call(&pf), 0, "call failed");
  for (size_t i = 0; i < output_len; i++) {
    output[i] = ((int8_t*)out.data)[i];
    printf("%d ", output[i]);
  }
  CHECK_EQ(TVMPlatformMemoryFree(in.data, dev), kTvmErrorNoError, "free");
  CHECK_EQ(TVMPlatformMemoryFree(out.data, dev), kTvmErrorNoError, "free");
  CHECK_EQ(memory_manager->vleak_size, 0, "leak");
  printf("%s\n", metadata->mod_name);
  return 0;
}
