/* An application in the form of microTVM's guide for the packed interface. It makes its own
 * tensors, and finds the entry point by its name in the registry of the system library. */
#include <dlpack/dlpack.h>
#include <stdio.h>
#include <string.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/func_registry.h>
#include <tvm/runtime/crt/module.h>
#include <tvm/runtime/crt/packed_func.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/metadata_types.h>

TVM_DLL int32_t tvmgen_default_run(void* args, void* type_code, int num_args, void* out_value,
                                   void* out_type_code, void* resource_handle);

static int8_t input_data[32];
static int8_t output_data[48];

static void fill(DLTensor* tensor, void* data, const struct TVMTensorInfo* info) {
  tensor->data = data;
  tensor->device.device_type = kDLCPU;
  tensor->device.device_id = 0;
  tensor->ndim = (int32_t)info->num_shape;
  tensor->dtype = info->dtype;
  tensor->shape = (int64_t*)info->shape;
  tensor->strides = NULL;
  tensor->byte_offset = 0;
}

int main(void) {
  DLTensor tensors[2];
  TVMValue values[2];
  int typeids[2] = {kTVMDLTensorHandle, kTVMDLTensorHandle};
  TVMModuleHandle system_lib;
  TVMFunctionHandle get_metadata, run;
  TVMValue ret;
  int ret_code;
  size_t i;

  if (TVMModCreateFromCModule(TVMSystemLibEntryPoint(), &system_lib) != 0 ||
      TVMModGetFunction(system_lib, "tvmgen_default_get_c_metadata", 0, &get_metadata) != 0 ||
      TVMModGetFunction(system_lib, "tvmgen_default_run", 0, &run) != 0 ||
      TVMFuncCall(get_metadata, NULL, NULL, 0, &ret, &ret_code) != 0) {
    return 1;
  }
  const struct TVMMetadata* metadata = ret.v_handle;
  memset(input_data, 5, sizeof input_data);
  fill(&tensors[0], input_data, &metadata->inputs[0]);
  fill(&tensors[1], output_data, &metadata->outputs[0]);
  values[0].v_handle = &tensors[0];
  values[1].v_handle = &tensors[1];
  if (tvmgen_default_run(values, typeids, 2, NULL, NULL, NULL) != 0) {
    return 2;
  }
  for (i = 0; i < sizeof output_data; i++) {
    printf("%d ", output_data[i]);
  }
  memset(output_data, 0, sizeof output_data);
  if (TVMFuncCall(run, values, typeids, 2, &ret, &ret_code) != 0) {
    return 3;
  }
  printf("\n");
  for (i = 0; i < sizeof output_data; i++) {
    printf("%d ", output_data[i]);
  }
  return 0;
}
