/* Loads many modules of type examplejson, and runs all their functions. Standard input: cases of
 * (u32 bytes of pool, u32 bytes of workspace to withhold, u32 bytes of payload, payload),
 * little-endian. Standard output, per case: the code of loading, the pool's bytes in use and, for
 * each function that is not too large, " <code> <bytes of workspace> <CRC-32 of the outputs>".
 *
 * Every buffer is a block of its own and exactly as large as it is said to be, so that
 * AddressSanitizer finds one byte too many. Element i of input n has the value that `filled`
 * computes. */
#include "../driver_input.h"
#include "examplejson/examplejson_graph.h"
#include "examplejson/runtime_examplejson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (1U << 20)
#define MAX_ARGS 4096U

static void *block(size_t nbytes)
{
    void *const found = malloc(nbytes);

    if (found == NULL) {
        exit(2);
    }
    return found;
}

static float filled(uint32_t n, uint32_t i)
{
    return (float)(int32_t)((n * 0x85EBCA6BU + i + 1U) * 0x9E3779B1U) / (float)(1 << 28);
}

static uint32_t crc32(uint32_t crc, const uint8_t *data, uint32_t nbytes)
{
    uint32_t bit;

    for (; nbytes > 0U; nbytes--, data++) {
        crc ^= *data;
        for (bit = 0U; bit < 8U; bit++) {
            crc = crc >> 1 ^ ((crc & 1U) != 0U ? 0xEDB88320U : 0U);
        }
    }
    return crc;
}

static uint32_t nbytes_of(const DLTensor *tensor)
{
    uint32_t nbytes = (uint32_t)sizeof(float);
    int32_t i;

    for (i = 0; i < tensor->ndim; i++) {
        nbytes *= (uint32_t)tensor->shape[i];
    }
    return nbytes;
}

static DLTensor tensor_of(const mg_examplejson_node *node)
{
    DLTensor tensor;

    (void)memset(&tensor, 0, sizeof(tensor));
    tensor.data = block(node->nbytes);
    tensor.device.device_type = kDLCPU;
    tensor.ndim = node->ndim;
    tensor.dtype.code = kDLFloat;
    tensor.dtype.bits = 32U;
    tensor.dtype.lanes = 1U;
    tensor.shape = (int64_t *)(uintptr_t)node->shape;
    (void)memset(tensor.data, 0xA5, node->nbytes);
    return tensor;
}

static int is_small(const mg_examplejson_function *function)
{
    uint64_t nbytes = function->workspace_bytes;
    const mg_examplejson_output *output;
    const mg_examplejson_node *node;

    for (node = function->nodes; node != NULL; node = node->next) {
        nbytes += node->op == MG_EXAMPLEJSON_INPUT ? node->nbytes : 0U;
    }
    for (output = function->outputs; output != NULL; output = output->next) {
        nbytes += output->node->nbytes;
    }
    return nbytes <= MAX_BYTES && function->num_inputs + function->num_outputs <= MAX_ARGS;
}

/* The arguments of a function: their number. */
static uint32_t make_args(const mg_examplejson_function *function, DLTensor *args)
{
    const mg_examplejson_output *output;
    const mg_examplejson_node *node;
    uint32_t count = 0U;
    uint32_t i;

    for (node = function->nodes; node != NULL; node = node->next) {
        if (node->op == MG_EXAMPLEJSON_INPUT) {
            args[count] = tensor_of(node);
            for (i = 0U; i < node->nbytes / sizeof(float); i++) {
                ((float *)args[count].data)[i] = filled(count, i);
            }
            count++;
        }
    }
    for (output = function->outputs; output != NULL; output = output->next) {
        args[count++] = tensor_of(output->node);
    }
    return count;
}

static void run(void *module, const mg_examplejson_function *function, uint32_t number,
                uint32_t withheld)
{
    static DLTensor args[MAX_ARGS];
    const uint32_t given =
        function->workspace_bytes > withheld ? function->workspace_bytes - withheld : 0U;
    mg_module_call call = {args, make_args(function, args), block(given), given, NULL};
    const tvm_crt_error_t error = mg_examplejson_run(module, number, &call);
    uint32_t crc = 0xFFFFFFFFU;
    uint32_t i;

    for (i = 0U; i < call.num_args; i++) {
        if (i >= function->num_inputs) {
            crc = crc32(crc, args[i].data, nbytes_of(&args[i]));
        }
        free(args[i].data);
    }
    free(call.workspace);
    printf(" %d %lu %lu", (int)error, (unsigned long)function->workspace_bytes,
           (unsigned long)~crc & 0xFFFFFFFFUL);
}

/* `functions` are those of the module, read once more. */
static void run_all(void *module, const mg_examplejson_function *functions, uint32_t withheld)
{
    uint32_t expected;

    for (expected = 0U; functions != NULL; functions = functions->next, expected++) {
        uint32_t number = UINT32_MAX;
        if (mg_examplejson_find(module, functions->symbol, &number) != kTvmErrorNoError ||
            number != expected) {
            exit(3);
        }
        if (is_small(functions)) {
            run(module, functions, number, withheld);
        }
    }
}

int main(void)
{
    for (;;) {
        const uint32_t num_pool = read_number();
        const uint32_t withheld = read_number();
        const uint32_t num_payload = read_number();
        uint8_t *const memory = block(num_pool);
        uint8_t *const more = block(num_pool);
        uint8_t *const payload = block(num_payload);
        mg_stream stream = {payload, payload + num_payload, false};
        mg_pool pool = {memory, memory + num_pool};
        mg_pool others = {more, more + num_pool};
        mg_examplejson_function *functions = NULL;
        void *module = NULL;
        tvm_crt_error_t error;

        if (fread(payload, 1, num_payload, stdin) != num_payload) {
            exit(4);
        }
        (void)memset(memory, 0xA5, num_pool);
        error = mg_examplejson_load(&stream, &pool, &module);
        printf("%d %lu", (int)error, (unsigned long)(pool.at - memory));
        if (error == kTvmErrorNoError) {
            if (stream.failed || mg_examplejson_read(mg_examplejson_source(module), &others,
                                                     &functions) != kTvmErrorNoError) {
                exit(5);
            }
            run_all(module, functions, withheld);
        }
        putchar('\n');
        free(payload);
        free(more);
        free(memory);
    }
}
