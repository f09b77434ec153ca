/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm/runtime/crt/func_registry.h"

static uint32_t count(const TVMFuncRegistry *reg)
{
    return (uint32_t)(uint8_t)reg->names[0] | (uint32_t)(uint8_t)reg->names[1] << 8;
}

/* Compares the name at `*cursor` and moves the cursor past its NUL. */
static int matches(const char **cursor, const char *name)
{
    const char *at = *cursor;
    int equal = 1;

    for (; *at != '\0'; at++) {
        if (equal != 0 && *at == *name) {
            name++;
        } else {
            equal = 0;
        }
    }
    *cursor = at + 1;
    return equal != 0 && *name == '\0';
}

tvm_crt_error_t TVMFuncRegistry_Lookup(const TVMFuncRegistry *reg, const char *name,
                                       tvm_function_index_t *function_index)
{
    const uint32_t functions = count(reg);
    const char *at = reg->names + 2;
    uint32_t i;

    for (i = 0U; i < functions && *at != '\0'; i++) {
        if (matches(&at, name) != 0) {
            *function_index = (tvm_function_index_t)i;
            return kTvmErrorNoError;
        }
    }
    return kTvmErrorFunctionNameNotFound;
}

tvm_crt_error_t TVMFuncRegistry_GetByIndex(const TVMFuncRegistry *reg, tvm_function_index_t index,
                                           TVMBackendPackedCFunc *out_func)
{
    if (index >= count(reg)) {
        return kTvmErrorFunctionIndexInvalid;
    }
    *out_func = reg->funcs[index];
    return kTvmErrorNoError;
}
