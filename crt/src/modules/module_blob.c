/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/module_blob.h"
#include "modules/const_loader.h"
#include "modules/module_loaders.h"
#include "modules/module_tree.h"

/* The importer of a module that has none. */
#define NOBODY UINT32_MAX

static tvm_crt_error_t malformed_if(bool condition)
{
    return condition ? kTvmErrorExecutorGraphMalformed : kTvmErrorNoError;
}

/* Loading */

static tvm_crt_error_t load_module(mg_text key, mg_stream *stream, mg_pool *pool, mg_module *module)
{
    tvm_crt_error_t error = kTvmErrorNoError;

    if (mg_text_is_name(key, "_lib")) {
        module->loader = kMgModuleLibrary;
    } else if (mg_text_is_name(key, "const_loader") || mg_text_is_name(key, "metadata")) {
        module->loader = kMgModuleConstLoader;
        mg_const_loader_read(stream, &module->payload);
    } else {
        const uint32_t loader = mg_loader_of(key);
        if (loader == MG_LOADER_UNKNOWN) {
            return kTvmErrorExecutorGraphUnsupported;
        }
        module->loader = (int32_t)loader;
        error = mg_loader_call_load(loader, stream, pool, &module->state);
    }
    return error == kTvmErrorNoError ? malformed_if(stream->failed) : error;
}

/* Reads the groups of a blob. `modules` has space for one module more than there are `groups`: only
 * reading the last group shows whether it is an import tree, and if it is not, the library is put
 * before all modules. */
static tvm_crt_error_t read_groups(mg_stream *stream, uint32_t groups, mg_pool *pool,
                                   mg_modules *modules)
{
    bool has_library = false;
    uint32_t i;

    for (i = 1U; i <= groups; i++) {
        mg_module *const module = &modules->modules[i];
        tvm_crt_error_t error;
        mg_text key;
        mg_stream_string(stream, &key);
        if (stream->failed) {
            return kTvmErrorExecutorGraphMalformed;
        }
        if (mg_text_is_name(key, "_import_tree")) {
            modules->modules++;
            modules->num_modules = i - 1U;
            return i == groups ? mg_module_tree_read(stream, pool, modules)
                               : kTvmErrorExecutorGraphMalformed;
        }
        error = load_module(key, stream, pool, module);
        if (error != kTvmErrorNoError) {
            return error;
        }
        if (module->loader == kMgModuleLibrary && has_library) {
            return kTvmErrorExecutorGraphMalformed;
        }
        has_library = has_library || module->loader == kMgModuleLibrary;
    }
    modules->num_modules = i;
    return has_library ? kTvmErrorExecutorGraphMalformed : mg_module_tree_default(pool, modules);
}

tvm_crt_error_t mg_modules_load(const uint8_t *blob, size_t nbytes, mg_pool *pool,
                                mg_modules *modules)
{
    mg_stream stream = {blob, blob + nbytes, false};
    const uint32_t rest = mg_stream_unsigned(&stream);
    const bool is_whole = rest == (size_t)(stream.end - stream.at);
    const uint32_t groups = mg_stream_count(&stream, 8U);
    mg_modules made = {NULL, NULL, 0U};
    tvm_crt_error_t error;

    *modules = made;
    if (stream.failed || !is_whole) {
        return kTvmErrorExecutorGraphMalformed;
    }
    made.modules = mg_pool_take(pool, (size_t)groups + 1U, sizeof(mg_module));
    if (made.modules == NULL) {
        return kTvmErrorPlatformNoMemory;
    }
    error = read_groups(&stream, groups, pool, &made);
    if (error == kTvmErrorNoError) {
        error = malformed_if(stream.at != stream.end);
    }
    if (error == kTvmErrorNoError) {
        *modules = made;
    }
    return error;
}

/* Finding */

/* Stores the symbol of a function name "__init_<symbol>". Returns false for other names. */
static bool is_init_of(mg_text name, mg_text *symbol)
{
    static const char prefix[] = "__init_";
    const uint32_t length = sizeof(prefix) - 1U;
    const mg_text start = {name.at, length};

    if (name.length < length || !mg_text_is_name(start, prefix)) {
        return false;
    }
    symbol->at = name.at + length;
    symbol->length = name.length - length;
    return true;
}

/* Finds a function of the module itself, not of its imports. */
static tvm_crt_error_t find(const mg_module *module, mg_text name, mg_module_function *function)
{
    tvm_crt_error_t error;
    mg_text symbol;

    if (module->loader < 0) {
        return kTvmErrorFunctionNameNotFound;
    }
    error = mg_loader_call_find((uint32_t)module->loader, module->state, name, &function->function);
    function->is_init = false;
    if (error == kTvmErrorFunctionNameNotFound && is_init_of(name, &symbol)) {
        error = mg_loader_call_find((uint32_t)module->loader, module->state, symbol,
                                    &function->function);
        function->is_init = true;
    }
    return error;
}

/* The next import of the module, or NOBODY after the last. */
static uint32_t next_import(const mg_modules *modules, mg_module *module)
{
    if (module->next_child == module->num_children) {
        return NOBODY;
    }
    module->next_child++;
    return modules->children[module->first_child + module->next_child - 1U];
}

/* Searches a module and, depth first, its imports. Follows the imports of all modules if
 * `query_imports`, otherwise only those of const loaders. Visits a module once for each of its
 * importers, but its imports only the first time. */
static tvm_crt_error_t search(const mg_modules *modules, uint32_t root, mg_text name,
                              bool query_imports, mg_module_function *function)
{
    uint32_t at = root;
    uint32_t i;

    for (i = 0U; i < modules->num_modules; i++) {
        modules->modules[i].next_child = 0U;
    }
    modules->modules[root].importer = NOBODY;
    while (at != NOBODY) {
        mg_module *const module = &modules->modules[at];
        const bool follows = query_imports || module->loader == kMgModuleConstLoader;
        uint32_t next;
        if (module->next_child == 0U) {
            const tvm_crt_error_t error = find(module, name, function);
            if (error != kTvmErrorFunctionNameNotFound) {
                function->module = at;
                return error;
            }
        }
        next = follows ? next_import(modules, module) : NOBODY;
        if (next != NOBODY) {
            modules->modules[next].importer = at;
        }
        at = next != NOBODY ? next : module->importer;
    }
    return kTvmErrorFunctionNameNotFound;
}

tvm_crt_error_t mg_modules_get_function(const mg_modules *modules, uint32_t module, mg_text name,
                                        bool query_imports, mg_module_function *function)
{
    mg_module_function found = {0U, 0U, false};
    tvm_crt_error_t error;

    if (module >= modules->num_modules) {
        return kTvmErrorFunctionIndexInvalid;
    }
    error = search(modules, module, name, false, &found);
    if (error == kTvmErrorFunctionNameNotFound && query_imports) {
        error = search(modules, module, name, true, &found);
    }
    if (error == kTvmErrorNoError) {
        *function = found;
    }
    return error;
}

/* Calling */

static const DLTensor *constant_of(mg_text name, const mg_module_constant *constants,
                                   uint32_t count)
{
    uint32_t i;

    for (i = 0U; i < count; i++) {
        if (mg_text_is_name(name, constants[i].name)) {
            return &constants[i].tensor;
        }
    }
    return NULL;
}

/* Finds the symbol's list in the first const loader that has one. */
static uint32_t find_names(const mg_modules *modules, mg_text symbol, mg_stream *names)
{
    uint32_t num_names = 0U;
    uint32_t i;

    for (i = 0U; i < modules->num_modules && num_names == 0U; i++) {
        if (modules->modules[i].loader == kMgModuleConstLoader) {
            num_names = mg_const_loader_find(&modules->modules[i].payload, symbol, names);
        }
    }
    return num_names;
}

static mg_text text_of(const char *name)
{
    mg_text text = {name, 0U};

    while (text.length < INT32_MAX && name[text.length] != '\0') {
        text.length++;
    }
    return text;
}

static tvm_crt_error_t init(const mg_modules *modules, mg_text symbol, mg_module_function function,
                            const mg_module_constant *constants, uint32_t count)
{
    const mg_module *const module = &modules->modules[function.module];
    mg_stream names = {NULL, NULL, false};
    const uint32_t num_names = find_names(modules, symbol, &names);
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t i;

    for (i = 0U; i < num_names && error == kTvmErrorNoError; i++) {
        const DLTensor *constant;
        mg_text name;
        mg_stream_string(&names, &name);
        constant = constant_of(name, constants, count);
        error = constant == NULL ? kTvmErrorExecutorModuleNoSuchInput
                                 : mg_loader_call_init((uint32_t)module->loader, module->state,
                                                       function.function, i, name, constant);
    }
    return error;
}

tvm_crt_error_t mg_modules_init(mg_modules *modules, const char *symbol,
                                const mg_module_constant *constants, uint32_t count,
                                mg_module_function *function)
{
    const mg_text name = text_of(symbol);
    mg_module_function found = {0U, 0U, false};
    tvm_crt_error_t error = mg_modules_get_function(modules, 0U, name, true, &found);

    if (error == kTvmErrorNoError && found.is_init) {
        error = kTvmErrorFunctionNameNotFound;
    }
    if (error == kTvmErrorNoError) {
        error = init(modules, name, found, constants, count);
    }
    if (error == kTvmErrorNoError) {
        *function = found;
    }
    return error;
}

tvm_crt_error_t mg_modules_init_all(mg_modules *modules, const char *const *symbols,
                                    uint32_t num_symbols, const mg_module_constant *constants,
                                    uint32_t num_constants, mg_module_function *functions)
{
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t i;

    for (i = 0U; i < num_symbols && error == kTvmErrorNoError; i++) {
        error = mg_modules_init(modules, symbols[i], constants, num_constants, &functions[i]);
    }
    return error;
}

tvm_crt_error_t mg_modules_run(const mg_modules *modules, mg_module_function function,
                               const mg_module_call *call)
{
    const mg_module *module;

    if (function.module >= modules->num_modules) {
        return kTvmErrorFunctionIndexInvalid;
    }
    module = &modules->modules[function.module];
    if (module->loader < 0) {
        return kTvmErrorFunctionIndexInvalid;
    }
    if (function.is_init) {
        return kTvmErrorFunctionCallNotImplemented;
    }
    return mg_loader_call_run((uint32_t)module->loader, module->state, function.function, call);
}
