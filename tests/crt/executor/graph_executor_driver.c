/* Runs many graphs. Standard input: cases of (u32 bytes of pool, u32 bytes of graph, graph, u32
 * bytes of parameters, parameters), little-endian. Standard output, per case: the codes of
 * creation, of loading parameters (0 if there are none) and of the run, the pool's bytes in use,
 * and the outputs in hexadecimal.
 *
 * Every buffer is a block of its own and exactly as large as it is said to be, so that
 * AddressSanitizer finds one byte too many. Inputs that are not parameters are copied in: element i
 * of input n is n + i. */
#include "../driver_input.h"
#include "tvm/runtime/crt/graph_executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t bytes_of(const DLTensor *tensor)
{
    size_t bytes = (tensor->dtype.bits + 7U) / 8U;
    int32_t i;

    for (i = 0; i < tensor->ndim; i++) {
        bytes *= (size_t)tensor->shape[i];
    }
    return bytes;
}

static const DLTensor *tensor(const TVMValue *arg)
{
    return arg->v_handle;
}

/* Every output byte is the sum of all input bytes and of the output's number, so this reads and
 * writes every byte that an operator may read or write. */
static int sum_bytes(TVMValue *args, int *type_codes, int num_args, TVMValue *ret, int *ret_code,
                     void *resource)
{
    uint8_t sum = 0U;
    int outputs = 0;
    int i;

    (void)ret;
    (void)ret_code;
    if (resource == NULL) {
        return -2;
    }
    for (i = 0; i < num_args; i++) {
        size_t k;
        if (type_codes[i] != kTVMDLTensorHandle || tensor(&args[i])->strides != NULL) {
            return -1;
        }
        for (k = 0; k < bytes_of(tensor(&args[i])); k++) {
            sum = (uint8_t)(sum + ((const uint8_t *)tensor(&args[i])->data)[k]);
        }
    }
    for (i = 1; i < num_args; i++, outputs++) {
        (void)memset(tensor(&args[i])->data, sum + outputs, bytes_of(tensor(&args[i])));
    }
    return 0;
}

/* These check their arguments like generated operators. There must be `count` tensors of float32
 * with as many bytes as the last one; the first must have `times` as many. */
static int is_given(const TVMValue *args, int num_args, int count, size_t times)
{
    int i;

    for (i = 0; i < num_args && num_args == count; i++) {
        const size_t bytes = bytes_of(tensor(&args[count - 1])) * (i == 0 ? times : 1U);
        const DLDataType dtype = tensor(&args[i])->dtype;
        if (bytes_of(tensor(&args[i])) != bytes || dtype.code != kDLFloat || dtype.bits != 32U) {
            return 0;
        }
    }
    return num_args == count;
}

/* y = a + b, elementwise, float32. */
static int add_f32(TVMValue *args, int *type_codes, int num_args, TVMValue *ret, int *ret_code,
                   void *resource)
{
    const float *a;
    const float *b;
    float *y;
    size_t i;

    (void)type_codes;
    (void)ret;
    (void)ret_code;
    (void)resource;
    if (is_given(args, num_args, 3, 1U) == 0) {
        return -3;
    }
    a = tensor(&args[0])->data;
    b = tensor(&args[1])->data;
    y = tensor(&args[2])->data;
    for (i = 0; i < bytes_of(tensor(&args[2])) / sizeof(float); i++) {
        y[i] = a[i] + b[i];
    }
    return 0;
}

/* Halves of an array of float32. */
static int split_f32(TVMValue *args, int *type_codes, int num_args, TVMValue *ret, int *ret_code,
                     void *resource)
{
    size_t half;

    (void)type_codes;
    (void)ret;
    (void)ret_code;
    (void)resource;
    if (is_given(args, num_args, 3, 2U) == 0) {
        return -3;
    }
    half = bytes_of(tensor(&args[1]));
    (void)memmove(tensor(&args[1])->data, tensor(&args[0])->data, half);
    (void)memmove(tensor(&args[2])->data, (const char *)tensor(&args[0])->data + half, half);
    return 0;
}

/* relu(conv2d(x, w) + b): NCHW, OIHW, 3x3, stride 1, padding 1. */
static int conv2d_bias_relu(TVMValue *args, int *type_codes, int num_args, TVMValue *ret,
                            int *ret_code, void *resource)
{
    const float *x, *w, *b;
    float *y;
    int o, r, c, i, k;
    int channels, height, width, outputs;

    (void)type_codes;
    (void)ret;
    (void)ret_code;
    (void)resource;
    if (num_args != 4 || tensor(&args[0])->ndim != 4 || tensor(&args[1])->ndim != 4) {
        return -3;
    }
    x = tensor(&args[0])->data;
    w = tensor(&args[1])->data;
    b = tensor(&args[2])->data;
    y = tensor(&args[3])->data;
    channels = (int)tensor(&args[0])->shape[1];
    height = (int)tensor(&args[0])->shape[2];
    width = (int)tensor(&args[0])->shape[3];
    outputs = (int)tensor(&args[1])->shape[0];
    for (i = 0; i < 4; i++) {
        const size_t bytes[4] = {(size_t)(channels * height * width) * 4U,
                                 (size_t)(outputs * channels * 9) * 4U, (size_t)outputs * 4U,
                                 (size_t)(outputs * height * width) * 4U};
        if (bytes_of(tensor(&args[i])) != bytes[i] || tensor(&args[i])->dtype.bits != 32U) {
            return -3;
        }
    }
    for (o = 0; o < outputs; o++) {
        for (r = 0; r < height; r++) {
            for (c = 0; c < width; c++) {
                float sum = b[o];
                for (i = 0; i < channels; i++) {
                    for (k = 0; k < 9; k++) {
                        const int row = r + k / 3 - 1;
                        const int column = c + k % 3 - 1;
                        if (row >= 0 && row < height && column >= 0 && column < width) {
                            sum += x[(i * height + row) * width + column] *
                                   w[(o * channels + i) * 9 + k];
                        }
                    }
                }
                y[(o * height + r) * width + c] = sum > 0.0F ? sum : 0.0F;
            }
        }
    }
    return 0;
}

static int fails(TVMValue *args, int *type_codes, int num_args, TVMValue *ret, int *ret_code,
                 void *resource)
{
    (void)args;
    (void)type_codes;
    (void)num_args;
    (void)ret;
    (void)ret_code;
    (void)resource;
    return -17;
}

static const char names[] = "\5\0sum_bytes\0add_f32\0split_f32\0fails\0"
                            "tvmgen_default_fused_nn_conv2d_nn_bias_add_nn_relu\0";
static const TVMBackendPackedCFunc functions[] = {sum_bytes, add_f32, split_f32, fails,
                                                  conv2d_bias_relu};
static const TVMFuncRegistry registry = {names, functions};
static const TVMModule module = {&registry};

static void *read_block(uint32_t *size)
{
    void *block;

    *size = read_number();
    block = malloc(*size);
    if (fread(block, 1, *size, stdin) != *size) {
        exit(2);
    }
    return block;
}

static int copy_inputs(TVMGraphExecutor *executor)
{
    int error = 0;
    int n;

    for (n = 0; n < TVMGraphExecutor_GetNumInputs(executor) && error == 0; n++) {
        const DLTensor *input = NULL;
        DLTensor callers;
        size_t i;
        error = TVMGraphExecutor_GetInput(executor, n, &input);
        if (error != 0 || input->data != NULL) {
            continue;
        }
        callers = *input;
        callers.data = malloc(bytes_of(input) + 8U);
        for (i = 0; i < bytes_of(input); i++) {
            if (input->dtype.code != kDLFloat || input->dtype.bits != 32U) {
                ((uint8_t *)callers.data)[i] = (uint8_t)((size_t)n + i);
            } else if (i % sizeof(float) == 0U) {
                ((float *)callers.data)[i / sizeof(float)] = (float)((size_t)n + i / sizeof(float));
            }
        }
        error = TVMGraphExecutor_CopyInput(executor, n, &callers);
        free(callers.data);
    }
    return error;
}

static void print_outputs(TVMGraphExecutor *executor)
{
    int n;

    for (n = 0; n < TVMGraphExecutor_GetNumOutputs(executor); n++) {
        const DLTensor *output = NULL;
        DLTensor copy;
        size_t i;
        if (TVMGraphExecutor_GetOutputZeroCopy(executor, n, &output) != 0) {
            exit(3);
        }
        copy = *output;
        copy.data = malloc(bytes_of(output) + 1U);
        if (TVMGraphExecutor_GetOutput(executor, n, &copy) != 0) {
            exit(4);
        }
        putchar(' ');
        for (i = 0; i < bytes_of(output); i++) {
            printf("%02x", ((uint8_t *)copy.data)[i]);
        }
        free(copy.data);
    }
}

int main(void)
{
    for (;;) {
        const uint32_t num_pool = read_number();
        uint32_t num_graph;
        uint32_t num_params;
        char *const graph = read_block(&num_graph);
        char *const params = read_block(&num_params);
        uint8_t *const pool = malloc(num_pool);
        const DLDevice device = {kDLCPU, 0};
        TVMGraphExecutor *executor = NULL;
        int load = 0;
        int run = 0;
        int create;

        (void)memset(pool, 0xA5, num_pool);
        create =
            TVMGraphExecutor_CreateIn(pool, num_pool, graph, num_graph, &module, device, &executor);
        if ((create == 0) != (executor != NULL)) {
            exit(5);
        }
        if (create == 0 && num_params > 0U) {
            load = TVMGraphExecutor_LoadParams(executor, params, num_params);
        }
        if (create == 0 && load == 0) {
            run = copy_inputs(executor);
        }
        if (create == 0 && load == 0 && run == 0) {
            run = TVMGraphExecutor_Run(executor);
        }
        printf("%d %d %d %lu", create, load, run,
               create == 0 ? (unsigned long)TVMGraphExecutor_GetPoolBytesUsed(executor) : 0UL);
        if (create == 0 && load == 0 && run == 0) {
            print_outputs(executor);
        }
        putchar('\n');
        free(pool);
        free(params);
        free(graph);
    }
}
