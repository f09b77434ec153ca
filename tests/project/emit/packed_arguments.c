/* Calls an entry point (int8[1,4,4,2] -> int8[1,4,4,2]) with every kind of bad argument. */
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/error_codes.h"
#include "tvmgen_default.h"

#include <stdio.h>
#include <string.h>

/* TVM's declaration. */
int32_t tvmgen_default_run(void *args, void *type_code, int num_args, void *out_value,
                           void *out_type_code, void *resource_handle);

static int8_t input[64];
static int8_t output[64];
static int64_t shape[4] = {1, 4, 4, 2};
static DLTensor tensors[2];
static TVMValue values[2];
static int codes[2];
static int failures;

static void prepare(void)
{
    int i;

    for (i = 0; i < 2; i++) {
        memset(&tensors[i], 0, sizeof tensors[i]);
        tensors[i].device.device_type = kDLCPU;
        tensors[i].dtype.bits = 8;
        tensors[i].dtype.lanes = 1;
        tensors[i].ndim = 4;
        tensors[i].shape = shape;
        values[i].v_handle = &tensors[i];
        codes[i] = kTVMDLTensorHandle;
    }
    tensors[0].data = input;
    tensors[1].data = output;
}

static void expect(const char *what, int32_t wanted, int num_args)
{
    const int32_t status = tvmgen_default_run(values, codes, num_args, NULL, NULL, NULL);

    if (status != wanted) {
        printf("%s: %x\n", what, (unsigned)status);
        failures++;
    }
    prepare();
}

int main(void)
{
    static int64_t other[4] = {1, 4, 2, 4};
    static int64_t compact[4] = {77, 8, 2, 1};
    static int64_t apart[4] = {32, 8, 2, 2};
    int i;

    prepare();
    expect("as it should be", 0, 2);
    expect("too few", kTvmErrorFunctionCallNumArguments, 1);
    expect("too many", kTvmErrorFunctionCallNumArguments, 3);
    expect("less than none", kTvmErrorFunctionCallNumArguments, -1);
    codes[1] = kTVMArgInt;
    expect("an integer", kTvmErrorFunctionCallWrongArgType, 2);
    codes[0] = kTVMNullptr;
    expect("a null pointer", kTvmErrorFunctionCallWrongArgType, 2);
    codes[0] = kTVMNDArrayHandle;
    codes[1] = kTVMOpaqueHandle;
    expect("an array and an opaque handle", 0, 2);
    values[0].v_handle = NULL;
    expect("no tensor", kTvmErrorFunctionCallInvalidArg, 2);
    tensors[1].data = NULL;
    expect("no data", kTvmErrorFunctionCallInvalidArg, 2);
    tensors[0].shape = NULL;
    expect("no shape", kTvmErrorFunctionCallInvalidArg, 2);
    tensors[0].ndim = 3;
    expect("three dimensions", kTvmErrorFunctionCallInvalidArg, 2);
    tensors[0].ndim = -1;
    expect("minus one dimension", kTvmErrorFunctionCallInvalidArg, 2);
    tensors[1].shape = other;
    expect("another shape", kTvmErrorFunctionCallInvalidArg, 2);
    tensors[0].dtype.code = kDLUInt;
    expect("unsigned", kTvmErrorFunctionCallInvalidArg, 2);
    tensors[0].dtype.bits = 16;
    expect("16 bits", kTvmErrorFunctionCallInvalidArg, 2);
    tensors[0].dtype.lanes = 2;
    expect("two lanes", kTvmErrorFunctionCallInvalidArg, 2);
    tensors[0].strides = compact; /* a dimension of one may have any stride */
    expect("compact strides", 0, 2);
    tensors[0].strides = apart;
    expect("other strides", kTvmErrorFunctionCallInvalidArg, 2);
    if (tvmgen_default_run(NULL, codes, 2, NULL, NULL, NULL) != kTvmErrorFunctionCallInvalidArg ||
        tvmgen_default_run(values, NULL, 2, NULL, NULL, NULL) != kTvmErrorFunctionCallInvalidArg) {
        printf("no arguments\n");
        failures++;
    }
    for (i = 0; i < 32; i++) {
        input[17 + i] = 127;
    }
    memset(output, 0, sizeof output);
    tensors[0].byte_offset = 17;
    tensors[1].byte_offset = 9;
    expect("offsets", 0, 2);
    for (i = 0; i < 64; i++) {
        if ((output[i] != 0) != (i >= 9 && i < 41)) {
            printf("output[%d] is %d\n", i, output[i]);
            failures++;
        }
    }
    if (failures == 0) {
        printf("ok\n");
    }
    return failures != 0;
}
