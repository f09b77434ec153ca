/* Runs the modules of type dnnl_json in cases.bin on the board, and writes results.bin.
 *
 * A case is a word with its length, and the bytes that tests/crt/dnnl/dnnl_json_cases.py packs. Its
 * result is three codes, the bytes needed of the pool and of the workspace, and the outputs. */
#include "platform/io.h"
#include "dnnl/runtime_dnnl_json.h"

#include <string.h>

#define MAX_TENSORS 32U

const uint32_t mg_loader_count = 1U;
const char *const mg_loader_names[] = {"runtime.module.loadbinary_dnnl_json"};
const mg_loader_load mg_loader_loads[] = {mg_dnnl_json_load};
const mg_loader_find mg_loader_finds[] = {mg_dnnl_json_find};
const mg_loader_init mg_loader_inits[] = {mg_dnnl_json_init};
const mg_loader_run mg_loader_runs[] = {mg_dnnl_json_run};

static uint8_t memory[192 * 1024] __attribute__((aligned(16)));
static uint8_t pool_memory[16 * 1024] __attribute__((aligned(8)));
static uint8_t workspace[16 * 1024] __attribute__((aligned(16)));
static uint8_t tensors[64 * 1024] __attribute__((aligned(16)));
static DLTensor blocks[MAX_TENSORS];
static int64_t shapes[MAX_TENSORS][8];
static const uint8_t *at;
static uint8_t *free_tensor;

static uint32_t next_u32(void)
{
    uint32_t value;

    (void)memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

static uint32_t read_tensor(uint32_t i)
{
    const uint32_t dtype = next_u32();
    uint32_t nbytes;

    (void)memset(&blocks[i], 0, sizeof blocks[i]);
    blocks[i].dtype.code = (uint8_t)dtype;
    blocks[i].dtype.bits = (uint8_t)(dtype >> 8);
    blocks[i].dtype.lanes = (uint16_t)(dtype >> 16);
    blocks[i].ndim = (int32_t)next_u32();
    blocks[i].shape = shapes[i];
    for (int32_t k = 0; k < blocks[i].ndim; k++) {
        shapes[i][k] = (int32_t)next_u32();
    }
    nbytes = next_u32();
    blocks[i].data = free_tensor;
    (void)memcpy(free_tensor, at, nbytes);
    at += nbytes;
    free_tensor += (nbytes + 15U) / 16U * 16U;
    return nbytes;
}

static void run_case(int32_t results)
{
    const uint32_t flags = next_u32();
    mg_pool pool = {pool_memory, pool_memory + next_u32()};
    mg_module_call call = {NULL, 0U, workspace, next_u32(), NULL};
    const uint32_t payload = next_u32();
    mg_stream stream = {at, at + payload, false};
    uint32_t nbytes[MAX_TENSORS];
    int32_t words[5] = {0, 0, 0, 0, 0};
    void *module = NULL;

    (void)flags;
    words[0] = (int32_t)mg_dnnl_json_load(&stream, &pool, &module);
    at += payload;
    const uint32_t constants = next_u32();
    call.num_args = next_u32();
    const uint32_t outputs = next_u32();
    free_tensor = tensors;
    for (uint32_t i = 0U; i < constants + call.num_args; i++) {
        nbytes[i] = read_tensor(i);
        if (i < constants) {
            mg_text name;
            name.length = next_u32();
            name.at = (const char *)at;
            at += name.length;
            words[1] |= (int32_t)mg_dnnl_json_init(module, 0U, i, name, &blocks[i]);
        }
    }
    call.args = &blocks[constants];
    words[2] = (int32_t)mg_dnnl_json_run(module, 0U, &call);
    words[3] = (int32_t)(pool.at - pool_memory);
    words[4] = (int32_t)call.workspace_bytes;
    (void)mg_io_write(results, words, sizeof words);
    for (uint32_t i = constants + call.num_args - outputs; i < constants + call.num_args; i++) {
        (void)mg_io_write(results, blocks[i].data, nbytes[i]);
    }
}

int main(void)
{
    const int32_t cases = mg_io_open("cases.bin", 9U, MG_IO_READ);
    const int32_t results = mg_io_open("results.bin", 11U, MG_IO_WRITE);
    uint32_t nbytes;

    while (mg_io_read(cases, &nbytes, sizeof nbytes) == sizeof nbytes) {
        if (nbytes > sizeof memory || mg_io_read(cases, memory, nbytes) != nbytes) {
            return 1;
        }
        at = memory;
        run_case(results);
    }
    return (int)mg_io_close(results);
}
