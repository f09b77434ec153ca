/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/module_loaders.h"

#define ALONE __attribute__((noinline))

bool mg_text_is_name(mg_text text, const char *name)
{
    uint32_t i;

    for (i = 0U; i < text.length && name[i] != '\0' && name[i] == text.at[i]; i++) {
    }
    return i == text.length && name[i] == '\0';
}

/* Whether `name` is the name of the loader for `key`. */
static bool is_loader_of(const char *name, mg_text key)
{
    static const char prefix[] = "runtime.module.loadbinary_";
    uint32_t i;

    for (i = 0U; i < sizeof(prefix) - 1U; i++) {
        if (name[i] != prefix[i]) {
            return false;
        }
    }
    return mg_text_is_name(key, name + i);
}

uint32_t mg_loader_of(mg_text key)
{
    uint32_t i;

    for (i = 0U; i < mg_loader_count; i++) {
        if (is_loader_of(mg_loader_names[i], key)) {
            return i;
        }
    }
    return MG_LOADER_UNKNOWN;
}

ALONE tvm_crt_error_t mg_loader_call_load(uint32_t loader, mg_stream *payload, mg_pool *pool,
                                          void **module)
{
    return mg_loader_loads[loader](payload, pool, module);
}

ALONE tvm_crt_error_t mg_loader_call_find(uint32_t loader, const void *module, mg_text symbol,
                                          uint32_t *function)
{
    return mg_loader_finds[loader](module, symbol, function);
}

ALONE tvm_crt_error_t mg_loader_call_init(uint32_t loader, void *module, uint32_t function,
                                          uint32_t index, mg_text name, const DLTensor *constant)
{
    return mg_loader_inits[loader](module, function, index, name, constant);
}

ALONE tvm_crt_error_t mg_loader_call_run(uint32_t loader, void *module, uint32_t function,
                                         const mg_module_call *call)
{
    return mg_loader_runs[loader](module, function, call);
}
