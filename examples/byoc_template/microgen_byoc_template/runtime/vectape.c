/* Tapes remain in the blob. Loading a module stores the addresses at which its tapes begin. */
#include "vectape.h"

#define LANES 4U
#define COMMAND_BYTES 8U
#define MAX_VALUES 256U
#define MAX_ELEMENTS 0x1000000U

enum {
    OP_ADD = 1,
    OP_MULTIPLY = 2,
    OP_RELU = 3
};

typedef struct {
    mg_text symbol;
    const uint8_t *commands;
    uint32_t num_inputs;
    uint32_t num_outputs;
    uint32_t num_temporaries;
    uint32_t slot;
    uint32_t num_commands;
} vectape;

typedef struct {
    uint32_t opcode;
    uint32_t left;
    uint32_t right;
    uint32_t out;
    uint32_t elements;
} command;

static command next(mg_stream *stream)
{
    command found;
    found.opcode = (uint32_t)mg_stream_number(stream, 1U);
    found.left = (uint32_t)mg_stream_number(stream, 1U);
    found.right = (uint32_t)mg_stream_number(stream, 1U);
    found.out = (uint32_t)mg_stream_number(stream, 1U);
    found.elements = (uint32_t)mg_stream_number(stream, 4U);
    return found;
}

static bool is_slot(const vectape *tape, uint32_t value)
{
    return value >= tape->num_inputs + tape->num_outputs;
}

/* Whether the values of a command exist, and its temporaries are large enough. */
static bool is_sound(const vectape *tape, const command *c)
{
    const uint32_t values = tape->num_inputs + tape->num_outputs + tape->num_temporaries;
    const bool has_slot =
        is_slot(tape, c->left) || is_slot(tape, c->right) || is_slot(tape, c->out);

    return c->opcode >= OP_ADD && c->opcode <= OP_RELU && c->left < values && c->right < values &&
           c->out < values && c->out >= tape->num_inputs && c->elements <= MAX_ELEMENTS &&
           c->elements % LANES == 0U && (!has_slot || c->elements <= tape->slot / 4U);
}

tvm_crt_error_t vectape_load(mg_stream *payload, mg_pool *pool, void **module)
{
    vectape *const tape = mg_pool_take(pool, 1U, sizeof(*tape));

    if (tape == NULL) {
        return kTvmErrorPlatformNoMemory;
    }
    mg_stream_string(payload, &tape->symbol);
    tape->num_inputs = mg_stream_unsigned(payload);
    tape->num_outputs = mg_stream_unsigned(payload);
    tape->num_temporaries = mg_stream_unsigned(payload);
    tape->slot = mg_stream_unsigned(payload);
    tape->num_commands = mg_stream_count(payload, COMMAND_BYTES);
    tape->commands = payload->at;
    if (tape->num_inputs > MAX_VALUES || tape->num_outputs > MAX_VALUES ||
        tape->num_temporaries > MAX_VALUES || tape->slot % 16U != 0U ||
        tape->slot > 4U * MAX_ELEMENTS) {
        mg_stream_fail(payload);
    }
    for (uint32_t i = 0U; i < tape->num_commands && !payload->failed; i++) {
        const command c = next(payload);
        if (!is_sound(tape, &c)) {
            mg_stream_fail(payload);
        }
    }
    *module = tape;
    return payload->failed ? kTvmErrorExecutorGraphMalformed : kTvmErrorNoError;
}

tvm_crt_error_t vectape_find(const void *module, mg_text symbol, uint32_t *function)
{
    const vectape *const tape = module;

    *function = 0U;
    return mg_text_same(tape->symbol, symbol) ? kTvmErrorNoError : kTvmErrorFunctionNameNotFound;
}

tvm_crt_error_t vectape_init(void *module, uint32_t function, uint32_t index, mg_text name,
                             const DLTensor *constant)
{
    (void)module;
    (void)function;
    (void)index;
    (void)name;
    (void)constant;
    return kTvmErrorFunctionCallInvalidArg;
}

/* Whether an argument is float32 and has this number of elements. */
static bool is_fit(const DLTensor *tensor, uint32_t elements)
{
    uint64_t count = 1U;

    for (int32_t i = 0; i < tensor->ndim; i++) {
        if (tensor->shape[i] < 0 || tensor->shape[i] > (int64_t)MAX_ELEMENTS) {
            return false;
        }
        count *= (uint64_t)tensor->shape[i];
        if (count > MAX_ELEMENTS) {
            return false;
        }
    }
    return tensor->dtype.code == kDLFloat && tensor->dtype.bits == 32U &&
           tensor->dtype.lanes == 1U && count == elements;
}

/* The address of a value; NULL if it is an argument that does not fit the command. */
static float *place(const vectape *tape, const mg_module_call *call, uint32_t value,
                    uint32_t elements)
{
    const uint32_t ports = tape->num_inputs + tape->num_outputs;

    if (value >= ports) {
        return (float *)(void *)&call->workspace[(size_t)(value - ports) * tape->slot];
    }
    if (!is_fit(&call->args[value], elements)) {
        return NULL;
    }
    return (float *)(void *)((uint8_t *)call->args[value].data + call->args[value].byte_offset);
}

/* Simulates the unit with a loop; a driver of real hardware would pass the command on here. */
static void play(const command *c, const float *left, const float *right, float *out)
{
    for (uint32_t i = 0U; i < c->elements; i++) {
        switch (c->opcode) {
        case OP_ADD:
            out[i] = left[i] + right[i];
            break;
        case OP_MULTIPLY:
            out[i] = left[i] * right[i];
            break;
        default:
            out[i] = (left[i] < 0.0f) ? 0.0f : left[i];
            break;
        }
    }
}

/* Checks every command, or plays them. */
static tvm_crt_error_t walk(const vectape *tape, const mg_module_call *call, bool is_check)
{
    mg_stream stream = {tape->commands, tape->commands + tape->num_commands * COMMAND_BYTES, false};

    for (uint32_t i = 0U; i < tape->num_commands; i++) {
        const command c = next(&stream);
        const float *const left = place(tape, call, c.left, c.elements);
        const float *const right = place(tape, call, c.right, c.elements);
        float *const out = place(tape, call, c.out, c.elements);
        if (left == NULL || right == NULL || out == NULL) {
            return kTvmErrorFunctionCallWrongArgType;
        }
        if (!is_check) {
            play(&c, left, right, out);
        }
    }
    return kTvmErrorNoError;
}

tvm_crt_error_t vectape_run(void *module, uint32_t function, const mg_module_call *call)
{
    const vectape *const tape = module;
    tvm_crt_error_t error;

    if (function != 0U) {
        return kTvmErrorFunctionIndexInvalid;
    }
    if (call->num_args != tape->num_inputs + tape->num_outputs) {
        return kTvmErrorFunctionCallNumArguments;
    }
    if (call->workspace_bytes < (uint64_t)tape->num_temporaries * tape->slot) {
        return kTvmErrorPlatformNoMemory;
    }
    error = walk(tape, call, true);
    return error != kTvmErrorNoError ? error : walk(tape, call, false);
}
