/* Tests the runtime of ExampleJSON, loaded from a blob, call by call. Prints "ok", or the line of
 * the check that failed. Standard input: a blob that has the guide's text, and as function "all" a
 * subgraph with the inputs a and b (2x3) and the outputs a * b, a, a * b. */
#include "../executor_check.h"
#include "microgen/packed.h"
#include "examplejson/runtime_examplejson.h"

#include <string.h>

static uint64_t memory[512];
static int64_t ten[] = {10, 10};
static int64_t six[] = {2, 3};

/* The guide's subgraph: (a + b - c) * d. */
static void check_guide(mg_modules *modules)
{
    static float values[5][100];
    static float workspace[100];
    DLTensor args[5];
    mg_module_function function;
    mg_module_call call = {args, 5U, (uint8_t *)workspace, sizeof(workspace), NULL};
    int i;

    CHECK(mg_modules_init(modules, "subgraph_0", NULL, 0U, &function) == kTvmErrorNoError);
    for (i = 0; i < 5; i++) {
        const DLTensor tensor = MG_TENSOR(values[i], 2, ten, kDLFloat, 32U);
        args[i] = tensor;
    }
    for (i = 0; i < 400; i++) {
        values[i / 100][i % 100] = (float)(i % 100 + i / 100 * 7);
    }
    CHECK(mg_modules_run(modules, function, &call) == kTvmErrorNoError);
    for (i = 0; i < 100; i++) {
        CHECK(values[4][i] == (float)((i + i + 7 - i - 14) * (i + 21)));
    }
    call.workspace_bytes--;
    CHECK(mg_modules_run(modules, function, &call) == kTvmErrorPlatformNoMemory);
}

/* Checks the code for each wrong argument of "all", and that nothing is written. */
static void check_arguments(void *module, uint32_t function)
{
    static const float a[] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F};
    static const float b[] = {6.0F, 5.0F, 4.0F, 3.0F, 2.0F, 1.0F};
    static float out[3][7];
    static const float none[3][7];
    static int64_t steps[] = {3, 1};
    static int64_t turned[] = {1, 2};
    static int64_t other[] = {3, 2};
    const DLTensor right[] = {
        MG_TENSOR(a, 2, six, kDLFloat, 32U), MG_TENSOR(b, 2, six, kDLFloat, 32U),
        MG_TENSOR(out[0], 2, six, kDLFloat, 32U), MG_TENSOR(out[1], 2, six, kDLFloat, 32U),
        MG_TENSOR(out[2], 2, six, kDLFloat, 32U)};
    DLTensor args[6];
    mg_module_call call = {args, 5U, NULL, 0U, NULL};
    uint32_t place;
    int wrong;

    for (place = 0U; place < 5U; place++) {
        for (wrong = 0; wrong < 9; wrong++) {
            (void)memcpy(args, right, sizeof(right));
            args[place].data = wrong == 0 ? NULL : args[place].data;
            args[place].shape = wrong == 1 ? other : args[place].shape;
            args[place].ndim = wrong == 2 ? 1 : args[place].ndim;
            args[place].dtype.bits = wrong == 3 ? 64U : 32U;
            args[place].dtype.code = wrong == 4 ? kDLInt : kDLFloat;
            args[place].dtype.lanes = wrong == 5 ? 2U : 1U;
            args[place].strides = wrong == 6 ? turned : NULL;
            args[place].byte_offset = wrong == 7 ? 2U : 0U;
            args[place].shape = wrong == 8 ? NULL : args[place].shape;
            CHECK(mg_examplejson_run(module, function, &call) == kTvmErrorFunctionCallInvalidArg);
        }
    }
    (void)memcpy(args, right, sizeof(right));
    call.num_args = 4U;
    CHECK(mg_examplejson_run(module, function, &call) == kTvmErrorFunctionCallNumArguments);
    call.num_args = 6U;
    CHECK(mg_examplejson_run(module, function, &call) == kTvmErrorFunctionCallNumArguments);
    CHECK(memcmp(out, none, sizeof(out)) == 0);
    call.num_args = 5U;
    CHECK(mg_examplejson_run(module, 2U, &call) == kTvmErrorFunctionIndexInvalid);
    args[1].strides = steps;
    args[4].byte_offset = sizeof(float);
    CHECK(mg_examplejson_run(module, function, &call) == kTvmErrorNoError);
    for (place = 0U; place < 6U; place++) {
        CHECK(out[0][place] == a[place] * b[place]);
        CHECK(out[1][place] == a[place]);
        CHECK(out[2][place + 1U] == a[place] * b[place]);
    }
}

int main(void)
{
    static uint8_t blob[4096];
    const size_t nbytes = fread(blob, 1, sizeof(blob), stdin);
    const mg_text all = {"all", 3U};
    const mg_text prefix = {"al", 2U};
    const mg_text header = {"subgraph_1", 10U};
    mg_pool pool = {(uint8_t *)memory, (uint8_t *)memory + sizeof(memory)};
    mg_modules modules;
    mg_module_function function;
    DLTensor constant;
    mg_text source;

    CHECK(mg_modules_load(blob, nbytes, &pool, &modules) == kTvmErrorNoError);
    check_guide(&modules);
    CHECK(mg_modules_get_function(&modules, 0U, all, true, &function) == kTvmErrorNoError);
    CHECK(mg_modules_get_function(&modules, 0U, prefix, true, &function) ==
          kTvmErrorFunctionNameNotFound);
    CHECK(mg_modules_get_function(&modules, 0U, header, true, &function) ==
          kTvmErrorFunctionNameNotFound); /* it has another name */

    CHECK(mg_modules_get_function(&modules, 0U, all, true, &function) == kTvmErrorNoError);
    source = mg_examplejson_source(modules.modules[function.module].state);
    CHECK(source.length > 11U && memcmp(source.at, "subgraph_0\n", 11U) == 0);
    CHECK((const uint8_t *)source.at > blob && (const uint8_t *)source.at < blob + nbytes);
    check_arguments(modules.modules[function.module].state, function.function);

    (void)memset(&constant, 0, sizeof(constant));
    CHECK(mg_examplejson_init(modules.modules[function.module].state, function.function, 0U, all,
                              &constant) == kTvmErrorFunctionCallInvalidArg);
    CHECK(mg_examplejson_init(modules.modules[function.module].state, 2U, 0U, all, &constant) ==
          kTvmErrorFunctionIndexInvalid);
    return finish();
}
