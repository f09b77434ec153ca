/* Runs many dnnl_json modules. Standard input: cases, as tests/crt/dnnl/dnnl_json_cases.py packs them,
 * all numbers u32, little-endian. Standard output, per case: the codes of loading, of the constants
 * and of the run, bytes of the pool in use, bytes that the graph needs of a workspace, bytes of the
 * payload that were not read, and the outputs in hexadecimal.
 *
 * Every buffer is a block of its own and exactly as large as it is said to be, so that
 * AddressSanitizer finds one byte too many. */
#include "dnnl/dnnl_graph.h"
#include "dnnl/runtime_dnnl_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TENSORS 32U
#define NOT_RUN 0xFFFF

/* Cases that fit their buffers to the graph run only if the graph needs no more than this. */
#define MAX_FITTED 3000

const uint32_t mg_loader_count = 1U;
const char *const mg_loader_names[] = {"runtime.module.loadbinary_dnnl_json"};
const mg_loader_load mg_loader_loads[] = {mg_dnnl_json_load};
const mg_loader_find mg_loader_finds[] = {mg_dnnl_json_find};
const mg_loader_init mg_loader_inits[] = {mg_dnnl_json_init};
const mg_loader_run mg_loader_runs[] = {mg_dnnl_json_run};

static uint8_t *input;
static size_t input_bytes;
static size_t at;

static void read_all(void)
{
    size_t room = 1U << 16;

    input = malloc(room);
    for (;;) {
        const size_t n = fread(input + input_bytes, 1U, room - input_bytes, stdin);
        if (n == 0U) {
            return;
        }
        input_bytes += n;
        if (input_bytes == room) {
            room *= 2U;
            input = realloc(input, room);
        }
    }
}

static uint32_t next_u32(void)
{
    uint32_t value;

    (void)memcpy(&value, input + at, sizeof(value));
    at += sizeof(value);
    return value;
}

/* A block of exactly these bytes. */
static uint8_t *next_block(uint32_t nbytes)
{
    uint8_t *const block = malloc(nbytes);

    (void)memcpy(block, input + at, nbytes);
    at += nbytes;
    return block;
}

typedef struct {
    DLTensor tensor;
    int64_t shape[8];
    uint32_t nbytes;
    mg_text name;
} block;

static block blocks[MAX_TENSORS];
static DLTensor args[MAX_TENSORS];

/* Reads the dtype, ndim, the dims, the number of bytes, and the bytes. */
static void read_tensor(block *b)
{
    const uint32_t dtype = next_u32();
    uint32_t i;

    (void)memset(b, 0, sizeof(*b));
    b->tensor.dtype.code = (uint8_t)dtype;
    b->tensor.dtype.bits = (uint8_t)(dtype >> 8);
    b->tensor.dtype.lanes = (uint16_t)(dtype >> 16);
    b->tensor.ndim = (int32_t)next_u32();
    for (i = 0U; i < (uint32_t)b->tensor.ndim; i++) {
        b->shape[i] = (int32_t)next_u32();
    }
    b->tensor.shape = b->shape;
    b->nbytes = next_u32();
    b->tensor.data = next_block(b->nbytes);
}

static void fit_tensor(block *b, const mg_dnnl_node *node, float seed)
{
    const int32_t elements = mg_dnnl_elements(node);
    float *const values = malloc((size_t)elements * sizeof(float));
    int32_t i;

    (void)memset(b, 0, sizeof(*b));
    for (i = 0; i < node->ndim; i++) {
        b->shape[i] = node->dims[i];
    }
    for (i = 0; i < elements; i++) {
        values[i] = seed + (float)(i % 7);
    }
    b->tensor.dtype.code = kDLFloat;
    b->tensor.dtype.bits = 32U;
    b->tensor.dtype.lanes = 1U;
    b->tensor.ndim = node->ndim;
    b->tensor.shape = b->shape;
    b->tensor.data = values;
    b->nbytes = (uint32_t)elements * 4U;
}

/* Arguments and constants as the graph wants them: how many, or -1 if they are too many or large.
 */
static int fit(const mg_dnnl_graph *graph, uint32_t *constants)
{
    uint32_t count = 0U;
    uint32_t i;

    for (i = 0U; i < graph->num_nodes; i++) {
        if (mg_dnnl_elements(&graph->nodes[i]) > MAX_FITTED) {
            return -1;
        }
    }
    if (graph->num_constants + graph->num_args + graph->num_heads > MAX_TENSORS) {
        return -1;
    }
    for (i = 0U; i < graph->num_constants; i++) {
        blocks[count].name = graph->constants[i].name;
        fit_tensor(&blocks[count], &graph->nodes[graph->constants[i].node], 0.5F);
        blocks[count++].name = graph->constants[i].name;
    }
    *constants = count;
    for (i = 0U; i < graph->num_nodes; i++) {
        if (graph->nodes[i].op == MG_DNNL_NOTHING && graph->nodes[i].storage == MG_DNNL_ARGUMENT) {
            fit_tensor(&blocks[count++], &graph->nodes[i], -3.0F);
        }
    }
    for (i = 0U; i < graph->num_heads; i++) {
        fit_tensor(&blocks[count++], &graph->nodes[graph->heads[i]], 0.0F);
    }
    return (int)count;
}

static tvm_crt_error_t give_constants(void *module, uint32_t count)
{
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t i;

    for (i = 0U; i < count && error == kTvmErrorNoError; i++) {
        error = mg_dnnl_json_init(module, 0U, i, blocks[i].name, &blocks[i].tensor);
    }
    return error;
}

static void expect(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        exit(2);
    }
}

/* The module has the function of its symbol, and no other. */
static void check_functions(void *module, mg_text symbol)
{
    const mg_module_call none = {args, 0U, NULL, 0U, NULL};
    const mg_text longer = {"a symbol that no graph has", 26U};
    uint32_t function = 7U;

    expect(mg_dnnl_json_find(module, symbol, &function) == kTvmErrorNoError && function == 0U,
           "it has not the function of its symbol");
    expect(mg_dnnl_json_find(module, longer, &function) == kTvmErrorFunctionNameNotFound,
           "it has another function");
    expect(mg_dnnl_json_init(module, 1U, 0U, symbol, args) == kTvmErrorFunctionIndexInvalid,
           "function 1 has constants");
    expect(mg_dnnl_json_run(module, 1U, &none) == kTvmErrorFunctionIndexInvalid, "function 1 runs");
}

/* What is unusual about the first argument, or about all of them. */
enum {
    FITTED = 1,
    STRIDES = 2,
    NO_DATA = 4,
    UNALIGNED = 8,
    OFFSET = 16
};

static void make_odd(uint32_t flags, DLTensor *first, uint32_t count)
{
    uint32_t i;

    if ((flags & STRIDES) != 0U) {
        first->strides = first->shape;
    }
    if ((flags & NO_DATA) != 0U) {
        first->data = NULL;
    }
    if ((flags & UNALIGNED) != 0U) {
        first->byte_offset = 2U;
    }
    for (i = 0U; i < count && (flags & OFFSET) != 0U; i++) {
        first[i].data = (uint8_t *)first[i].data - 8;
        first[i].byte_offset = 8U;
    }
}

/* Blocks from `first` on are the arguments. */
static tvm_crt_error_t call_module(void *module, uint32_t flags, uint32_t first, uint32_t count,
                                   uint32_t workspace_bytes)
{
    mg_module_call call = {args, 0U, NULL, workspace_bytes, NULL};
    tvm_crt_error_t error;
    uint32_t i;

    for (i = first; i < count; i++) {
        args[call.num_args++] = blocks[i].tensor;
    }
    make_odd(flags, args, call.num_args);
    call.workspace = malloc(workspace_bytes);
    (void)memset(call.workspace, 0xA5, workspace_bytes);
    error = mg_dnnl_json_run(module, 0U, &call);
    free(call.workspace);
    return error;
}

static void print_bytes(const block *b)
{
    uint32_t i;

    (void)putchar(' ');
    for (i = 0U; i < b->nbytes; i++) {
        printf("%02x", ((const uint8_t *)b->tensor.data)[i]);
    }
}

static void run_case(void)
{
    const uint32_t flags = next_u32();
    const bool is_fitted = (flags & FITTED) != 0U;
    const uint32_t pool_bytes = next_u32();
    uint32_t workspace_bytes = next_u32();
    const uint32_t payload_bytes = next_u32();
    uint8_t *const payload = next_block(payload_bytes);
    uint8_t *const memory = malloc(pool_bytes);
    mg_pool pool = {memory, memory + pool_bytes};
    mg_stream stream = {payload, payload + payload_bytes, false};
    void *module = NULL;
    const tvm_crt_error_t load = mg_dnnl_json_load(&stream, &pool, &module);
    const mg_dnnl_graph *const graph = module;
    uint32_t constants = next_u32();
    uint32_t count = constants + next_u32();
    const uint32_t shown = next_u32(); /* the last of the arguments */
    int init = NOT_RUN;
    int run = NOT_RUN;
    uint32_t i;

    for (i = 0U; i < count; i++) {
        read_tensor(&blocks[i]);
        if (i < constants) {
            blocks[i].name.length = next_u32();
            blocks[i].name.at = (const char *)next_block(blocks[i].name.length);
        }
    }
    if (load == kTvmErrorNoError) {
        check_functions(module, graph->symbol);
    }
    if (load == kTvmErrorNoError && is_fitted) {
        const int fitted = fit(graph, &constants);
        count = fitted < 0 ? 0U : (uint32_t)fitted;
        workspace_bytes = graph->workspace_bytes;
    }
    if (load == kTvmErrorNoError && (!is_fitted || count > 0U)) {
        init = (int)give_constants(module, constants);
    }
    if (init == 0) {
        run = (int)call_module(module, flags, constants, count, workspace_bytes);
    }
    printf("%d %d %d %u %u %u", (int)load, init, run, (unsigned)(pool.at - memory),
           graph != NULL ? (unsigned)graph->workspace_bytes : 0U,
           (unsigned)(stream.end - stream.at));
    for (i = 0U; i < count; i++) {
        if (i + shown >= count && run == 0 && !is_fitted) {
            print_bytes(&blocks[i]);
        }
        free(blocks[i].tensor.data);
        if (i < constants && !is_fitted) {
            free((void *)(uintptr_t)blocks[i].name.at);
        }
    }
    (void)putchar('\n');
    free(memory);
    free(payload);
}

int main(void)
{
    read_all();
    while (at < input_bytes) {
        run_case();
    }
    free(input);
    return 0;
}
