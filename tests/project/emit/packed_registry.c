/* Finds the functions of a model by name and calls them. There are two inputs int8[1,4,4,2]; the
 * outputs are their sum and a convolution of the second. */
#include "tvm/runtime/crt/func_registry.h"
#include "tvm/runtime/crt/module.h"
#include "tvm/runtime/metadata_types.h"

#include <stdio.h>
#include <string.h>

static TVMBackendPackedCFunc found(const char *name)
{
    const TVMFuncRegistry *registry = TVMSystemLibEntryPoint()->registry;
    TVMBackendPackedCFunc function = NULL;
    tvm_function_index_t index = 0;

    if (TVMFuncRegistry_Lookup(registry, name, &index) == kTvmErrorNoError) {
        (void)TVMFuncRegistry_GetByIndex(registry, index, &function);
    }
    return function;
}

static void print_tensors(const struct TVMTensorInfo *tensors, int64_t count)
{
    int64_t i;
    int64_t k;

    for (i = 0; i < count; i++) {
        printf("%s: %d dimensions", tensors[i].name, (int)tensors[i].num_shape);
        for (k = 0; k < tensors[i].num_shape; k++) {
            printf(" %d", (int)tensors[i].shape[k]);
        }
        printf(" type %d %d %d\n", tensors[i].dtype.code, tensors[i].dtype.bits,
               tensors[i].dtype.lanes);
    }
}

int main(void)
{
    static int8_t data[4][48];
    static int8_t sum[32];
    static DLTensor tensors[4];
    TVMValue values[5];
    int codes[5];
    const struct TVMMetadata *metadata;
    TVMValue result;
    int result_code = 0;
    int64_t other[4] = {1, 2, 8, 2};
    int statuses[3];
    int i;
    tvm_function_index_t index;

    if (found("tvmgen_default_get_c_metadata")(NULL, NULL, 0, &result, &result_code, NULL) != 0 ||
        result_code != kTVMOpaqueHandle) {
        return 1;
    }
    metadata = result.v_handle;
    printf("%s version %d pools %d %d\n", metadata->mod_name, (int)metadata->version,
           (int)metadata->num_workspace_pools, (int)metadata->num_constant_pools);
    print_tensors(metadata->inputs, metadata->num_inputs);
    print_tensors(metadata->outputs, metadata->num_outputs);
    for (i = 0; i < 4; i++) {
        const struct TVMTensorInfo *info = i < 2 ? &metadata->inputs[i] : &metadata->outputs[i - 2];
        memset(data[i], 3 * i - 20, sizeof data[i]);
        tensors[i].data = data[i];
        tensors[i].device.device_type = kDLCPU;
        tensors[i].ndim = (int32_t)info->num_shape;
        tensors[i].shape = (int64_t *)info->shape;
        tensors[i].dtype = info->dtype;
        values[i].v_handle = &tensors[i];
        codes[i] = kTVMDLTensorHandle;
    }
    statuses[0] = found("tvmgen_default_run")(values, codes, 4, NULL, NULL, NULL);
    memcpy(sum, data[2], sizeof sum);
    memset(data[2], 0, sizeof data[2]);
    statuses[1] = found("tvmgen_default_fused_add")(values, codes, 3, NULL, NULL, NULL);
    printf("run %d, add %d, equal %d\n", statuses[0], statuses[1],
           memcmp(sum, data[2], sizeof sum) == 0);
    statuses[0] = found("tvmgen_default_fused_add")(values, codes, 3, &result, &result_code, NULL);
    tensors[0].shape = other;
    statuses[1] = found("tvmgen_default_fused_add")(values, codes, 3, NULL, NULL, NULL);
    statuses[2] = found("tvmgen_default_fused_add")(values, codes, 2, NULL, NULL, NULL);
    printf("add with three tensors of one shape %x, with another shape %x, with two %x\n",
           (unsigned)statuses[0], (unsigned)statuses[1], (unsigned)statuses[2]);
    printf("nothing of that name %x\n",
           (unsigned)TVMFuncRegistry_Lookup(TVMSystemLibEntryPoint()->registry, "tvmgen_default",
                                            &index));
    return 0;
}
