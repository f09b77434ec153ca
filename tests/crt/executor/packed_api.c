/* Tests registries, modules, packed functions and the stack allocator. Prints "ok", or the line of
 * the check that failed. */
#include "../executor_check.h"
#include "tvm/runtime/crt/crt.h"
#include "tvm/runtime/crt/packed_func.h"
#include "tvm/runtime/crt/stack_allocator.h"
#include "tvm/runtime/metadata_types.h"

#include <string.h>

static int sum(TVMValue *args, int *type_codes, int num_args, TVMValue *ret, int *ret_code,
               void *resource)
{
    int i;

    CHECK(*ret_code == kTVMNullptr && resource != NULL);
    ret->v_int64 = 0;
    for (i = 0; i < num_args; i++) {
        if (type_codes[i] != kTVMArgInt) {
            return kTvmErrorFunctionCallWrongArgType;
        }
        ret->v_int64 += args[i].v_int64;
    }
    *ret_code = kTVMArgInt;
    return 0;
}

static int seven(TVMValue *args, int *type_codes, int num_args, TVMValue *ret, int *ret_code,
                 void *resource)
{
    (void)args;
    (void)type_codes;
    (void)num_args;
    (void)resource;
    ret->v_int64 = 7;
    *ret_code = kTVMArgInt;
    return 0;
}

static const TVMBackendPackedCFunc functions[] = {sum, seven, seven};
static const TVMFuncRegistry registry = {"\3\0sum\0seven\0sevens\0", functions};
static const TVMModule module = {&registry};
static const DLDevice cpu = {kDLCPU, 0};

const TVMModule *TVMSystemLibEntryPoint(void)
{
    return &module;
}

static void test_registries(void)
{
    /* Claims more names than it has, and fewer. */
    static const TVMFuncRegistry longer = {"\11\0sum\0seven\0", functions};
    static const TVMFuncRegistry shorter = {"\1\0sum\0seven\0", functions};
    tvm_function_index_t index = 99U;
    TVMBackendPackedCFunc function = NULL;

    CHECK(TVMFuncRegistry_Lookup(&registry, "seven", &index) == 0 && index == 1U);
    CHECK(TVMFuncRegistry_Lookup(&registry, "sevens", &index) == 0 && index == 2U);
    CHECK(TVMFuncRegistry_Lookup(&registry, "seve", &index) == kTvmErrorFunctionNameNotFound);
    CHECK(TVMFuncRegistry_Lookup(&registry, "", &index) == kTvmErrorFunctionNameNotFound);
    CHECK(index == 2U);
    CHECK(TVMFuncRegistry_Lookup(&longer, "none", &index) == kTvmErrorFunctionNameNotFound);
    CHECK(TVMFuncRegistry_Lookup(&shorter, "seven", &index) == kTvmErrorFunctionNameNotFound);
    CHECK(TVMFuncRegistry_GetByIndex(&registry, 1U, &function) == 0 && function == seven);
    CHECK(TVMFuncRegistry_GetByIndex(&registry, 3U, &function) == kTvmErrorFunctionIndexInvalid);
}

static void test_modules(void)
{
    TVMModuleHandle handles[TVM_CRT_MAX_REGISTERED_MODULES + 1];
    TVMFunctionHandle function = NULL;
    TVMValue args[2];
    TVMValue result;
    int codes[2] = {kTVMArgInt, kTVMArgInt};
    int code = 0;
    int i;

    CHECK(TVMInitializeRuntime() == 0);
    for (i = 0; i < TVM_CRT_MAX_REGISTERED_MODULES; i++) {
        CHECK(TVMModCreateFromCModule(&module, &handles[i]) == 0);
        CHECK(TVMModule_OfHandle(handles[i]) == &module);
    }
    CHECK(TVMModCreateFromCModule(&module, &handles[i]) == kTvmErrorExecutorModuleAlreadyCreated);
    CHECK(TVMModGetFunction(handles[1], "sum", 0, &function) == 0);
    args[0].v_int64 = 40;
    args[1].v_int64 = 2;
    CHECK(TVMFuncCall(function, args, codes, 2, &result, &code) == 0);
    CHECK(result.v_int64 == 42 && code == kTVMArgInt);
    codes[1] = kTVMStr;
    CHECK(TVMFuncCall(function, args, codes, 2, &result, &code) ==
          kTvmErrorFunctionCallWrongArgType);
    CHECK(TVMModGetFunction(handles[1], "other", 0, &function) == kTvmErrorFunctionNameNotFound);
    CHECK(TVMFuncFree(function) == 0);
    CHECK(TVMModFree(handles[1]) == 0);
    CHECK(TVMModFree(handles[1]) == kTvmErrorExecutorModuleBadContext);
    CHECK(TVMModule_OfHandle(handles[1]) == NULL && TVMModule_OfHandle(NULL) == NULL);
    CHECK(TVMFuncCall(function, args, codes, 2, &result, &code) == kTvmErrorFunctionIndexInvalid);
    CHECK(TVMFuncCall(NULL, args, codes, 2, &result, &code) == kTvmErrorFunctionIndexInvalid);
    CHECK(TVMFuncCall((TVMFunctionHandle)(uintptr_t)0x80000003U, args, codes, 0, &result, &code) ==
          kTvmErrorFunctionIndexInvalid);
    CHECK(TVMFuncCall((TVMFunctionHandle)(uintptr_t)0x8001U, args, codes, 0, &result, &code) ==
          kTvmErrorFunctionIndexInvalid);
    CHECK(TVMModGetFunction(handles[1], "sum", 0, &function) == kTvmErrorExecutorModuleBadContext);
    CHECK(TVMBackendGetFuncFromEnv(NULL, "seven", &function) == 0);
    CHECK(TVMFuncCall(function, args, codes, 0, &result, &code) == 0 && result.v_int64 == 7);
    CHECK(TVMBackendGetFuncFromEnv(NULL, "eight", &function) == kTvmErrorFunctionNameNotFound);
    CHECK(TVMBackendGetFuncFromEnv(handles[0], "sum", &function) == 0);
    CHECK(TVMInitializeRuntime() == 0 && TVMModule_OfHandle(handles[0]) == NULL);
}

static void test_packed_functions(void)
{
    TVMPackedFunc function;
    TVMModuleHandle system_lib;
    TVMValue values[2];
    uint32_t codes[2] = {kTVMArgInt, kTVMArgInt};
    TVMArgs args = TVMArgs_Create(NULL, NULL, 0U);
    TVMFunctionHandle handle = &function;

    CHECK(TVMPackedFunc_InitGlobalFunc(&function, "runtime.SystemLib", &args) == 0);
    CHECK(TVMPackedFunc_Call(&function) == 0);
    system_lib = TVMArgs_AsModuleHandle(&function.ret_value, 0U);
    CHECK(TVMModule_OfHandle(system_lib) == &module);
    CHECK(TVMPackedFunc_Call(&function) == 0);
    CHECK(TVMArgs_AsModuleHandle(&function.ret_value, 0U) == system_lib);
    CHECK(TVMArgs_AsModuleHandle(&function.ret_value, 1U) == NULL);
    CHECK(TVMPackedFunc_InitGlobalFunc(&function, "other", &args) == kTvmErrorFunctionNameNotFound);
    CHECK(TVMFuncGetGlobal("other", &handle) == 0 && handle == NULL);
    values[0].v_int64 = 3;
    values[1].v_int64 = 4;
    args = TVMArgs_Create(values, codes, 2U);
    CHECK(TVMPackedFunc_InitModuleFunc(&function, system_lib, "sum", &args) == 0);
    CHECK(TVMPackedFunc_Call(&function) == 0 && function.ret_value.values[0].v_int64 == 7);
    CHECK(TVMArgs_AsModuleHandle(&function.ret_value, 0U) == NULL);
    values[0].v_int64 = -3;
    args = TVMArgs_Create(values, codes, 1U);
    TVMPackedFunc_SetArgs(&function, &args);
    CHECK(TVMPackedFunc_Call(&function) == 0 && function.ret_value.values[0].v_int64 == -3);
    CHECK(strcmp(TVMGetLastError(), "") == 0);
    TVMAPISetLastError("no");
    CHECK(strcmp(TVMGetLastError(), "no") == 0);
    TVMAPISetLastError("0123456789012345678901234567890123456789012345678901234567890123456789");
    CHECK(strlen(TVMGetLastError()) == 63U);
}

static void test_the_stack_allocator(uint8_t check)
{
    static uint8_t memory[1024];
    const size_t tag = check != 0U ? STACK_ALLOCATOR_TAG_SIZE_BYTES : 0U;
    tvm_workspace_t workspace;
    void *blocks[3] = {NULL, NULL, NULL};
    void *none = NULL;
    size_t i;

    CHECK(StackMemoryManager_Init(&workspace, NULL, 100U) == kTvmErrorPlatformNoMemory);
    CHECK(StackMemoryManager_Init(&workspace, memory + 1, 0U) == kTvmErrorPlatformNoMemory);
    CHECK(StackMemoryManager_Init(&workspace, memory + 1, sizeof(memory) - 1U) == 0);
    for (i = 0U; i < 3U; i++) {
        CHECK(StackMemoryManager_Allocate_Body(&workspace, i * 16U + 1U, &blocks[i], check) == 0);
        CHECK(((uintptr_t)blocks[i] & 15U) == 0U);
        (void)memset(blocks[i], 0xFF, i * 16U + 1U);
    }
    CHECK((size_t)((uint8_t *)blocks[2] - (uint8_t *)blocks[0]) == 48U + 2U * tag);
    /* Sizes that wrap around the address space. */
    CHECK(StackMemoryManager_Allocate_Body(&workspace, SIZE_MAX, &none, check) ==
          kTvmErrorPlatformNoMemory);
    CHECK(StackMemoryManager_Allocate_Body(&workspace, SIZE_MAX - 15U, &none, check) ==
          kTvmErrorPlatformNoMemory);
    CHECK(StackMemoryManager_Allocate_Body(&workspace, SIZE_MAX / 2U, &none, check) ==
          kTvmErrorPlatformNoMemory);
    CHECK(none == NULL);
    CHECK(StackMemoryManager_Free_Body(&workspace, &workspace, check) ==
          kTvmErrorPlatformStackAllocBadFree);
    CHECK(StackMemoryManager_Free_Body(&workspace, NULL, check) ==
          kTvmErrorPlatformStackAllocBadFree);
    CHECK(StackMemoryManager_Free_Body(&workspace, (uint8_t *)blocks[2] + 1, check) ==
          kTvmErrorPlatformStackAllocBadFree);
    if (check != 0U) {
        CHECK(StackMemoryManager_Free_Body(&workspace, blocks[1], check) ==
              kTvmErrorPlatformStackAllocBadFree);
    }
    CHECK(StackMemoryManager_Free_Body(&workspace, blocks[2], check) == 0);
    CHECK(StackMemoryManager_Free_Body(&workspace, blocks[1], check) == 0);
    CHECK(StackMemoryManager_Free_Body(&workspace, blocks[0], check) == 0);
    CHECK(workspace.next_alloc == workspace.workspace);
    if (check != 0U) {
        CHECK(StackMemoryManager_Free_Body(&workspace, blocks[0], check) ==
              kTvmErrorPlatformStackAllocBadFree);
    }
    CHECK(StackMemoryManager_Allocate_Body(&workspace, workspace.workspace_size - tag - 15U, &none,
                                           check) == 0);
}

/* The allocator of platform_memory.c. Its check is chosen at compile time. */
static void test_workspaces(void)
{
    static uint8_t memory[256] __attribute__((aligned(16)));
    void *a;
    void *b;

    CHECK(TVMBackendAllocWorkspace(kDLCPU, 0, 1U, kDLFloat, 32) == NULL);
    CHECK(TVMPlatformMemorySetPool(memory, sizeof(memory)) == 0);
    a = TVMBackendAllocWorkspace(kDLCPU, 0, 100U, kDLFloat, 32);
    b = TVMBackendAllocWorkspace(kDLCPU, 0, 20U, kDLInt, 8);
    CHECK(a == memory && b != NULL);
    CHECK(TVMBackendAllocWorkspace(kDLCPU, 0, 200U, kDLInt, 8) == NULL);
    CHECK(TVMBackendAllocWorkspace(kDLCPU, 0, UINT64_MAX, kDLInt, 8) == NULL);
#ifdef TVM_CRT_STACK_ALLOCATOR_ENABLE_LIFO_CHECK
    CHECK(TVMBackendFreeWorkspace(kDLCPU, 0, a) == kTvmErrorPlatformStackAllocBadFree);
#endif
    CHECK(TVMBackendFreeWorkspace(kDLCPU, 0, b) == 0);
    CHECK(TVMBackendFreeWorkspace(kDLCPU, 0, a) == 0);
    CHECK(TVMPlatformMemoryFree(memory + 1, cpu) == kTvmErrorPlatformStackAllocBadFree);
}

/* The description that a generated model gives of itself. */
static void test_metadata(void)
{
    static const int64_t shape[] = {1, 32};
    static const struct TVMTensorInfo input = {"x", shape, 2, {kDLFloat, 32U, 1U}};
    static const struct TVMConstantInfo constant = {"p0", 0, 4, shape};
    static const struct TVMMetadata metadata = {1,    &input, 1,         &input, 1,
                                                NULL, 0,      &constant, 1,      "default"};

    CHECK(metadata.inputs->shape[metadata.inputs->num_shape - 1] == 32);
    CHECK(metadata.version == 1 && metadata.constant_pools->data_len == 4);
}

int main(void)
{
    test_registries();
    test_modules();
    test_packed_functions();
    test_the_stack_allocator(0U);
    test_the_stack_allocator(1U);
    test_workspaces();
    test_metadata();
    return finish();
}
