/* Loads many blobs. Standard input, per case: u32 bytes of pool, block with the blob, u32 number of
 * lookups, each (u32 module, u32 whether to query imports, block with the name), u32 number of
 * symbols, each a block; a block is u32 length and bytes. Standard output, a line per case: the
 * code of loading and the pool's bytes in use, per lookup "code,module,function,init", per symbol
 * "code of init,code of the call,result" for the input 5.
 *
 * The pool, the blob and each name are blocks of their own. */
#include "../driver_input.h"
#include "module_blob_toy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *read_block(uint32_t *size, uint32_t more)
{
    char *block;

    *size = read_number();
    block = toy_block((size_t)*size + more);
    if (fread(block, 1, *size, stdin) != *size) {
        exit(2);
    }
    (void)memset(block + *size, 0, more);
    return block;
}

static void look_up(const mg_modules *modules)
{
    mg_module_function function = {77U, 77U, false};
    const uint32_t module = read_number();
    const bool query_imports = read_number() != 0U;
    uint32_t length;
    char *const name = read_block(&length, 0U);
    const mg_text text = {name, length};
    const tvm_crt_error_t error =
        mg_modules_get_function(modules, module, text, query_imports, &function);

    if (error != kTvmErrorNoError && function.module != 77U) {
        exit(3);
    }
    if (module < modules->num_modules && modules->modules[module].loader < 0) {
        const mg_module_function none = {module, 0U, false};
        int32_t result = 0;
        if (toy_call(modules, none, 5, &result) != kTvmErrorFunctionIndexInvalid) {
            exit(6);
        }
    }
    printf(" %d,%lu,%lu,%d", (int)error, (unsigned long)function.module,
           (unsigned long)function.function, function.is_init);
    free(name);
}

static void run(mg_modules *modules)
{
    mg_module_function function = {UINT32_MAX, 0U, false};
    uint32_t length;
    char *const symbol = read_block(&length, 1U);
    const tvm_crt_error_t error =
        mg_modules_init(modules, symbol, toy_constants, TOY_CONSTANTS, &function);
    int32_t result = 0;
    const tvm_crt_error_t called = toy_call(modules, function, 5, &result);

    if ((error == kTvmErrorNoError) != (function.module != UINT32_MAX)) {
        exit(4);
    }
    printf(" %d,%d,%ld", (int)error, (int)called, (long)result);
    free(symbol);
}

/* Products that wrap around, so they only seem to fit. */
static void check_pool(void)
{
    uint64_t memory[2];
    uint8_t *const block = (uint8_t *)memory;
    mg_pool pool = {block, block + sizeof(memory)};

    if (mg_pool_take(&pool, SIZE_MAX / 4U + 2U, 4U) != NULL ||
        mg_pool_take(&pool, SIZE_MAX, SIZE_MAX) != NULL ||
        mg_pool_take(&pool, SIZE_MAX, 1U) != NULL || pool.at != block ||
        mg_pool_take(&pool, 9U, 1U) != block || pool.at != pool.end) {
        exit(7);
    }
}

int main(void)
{
    check_pool();
    for (;;) {
        const uint32_t num_pool = read_number();
        uint8_t *const block = toy_block(num_pool);
        mg_pool pool = {block, block + num_pool};
        uint32_t nbytes;
        uint8_t *const blob = read_block(&nbytes, 0U);
        mg_modules modules;
        uint32_t count;
        tvm_crt_error_t error;

        (void)memset(block, 0xA5, num_pool);
        error = mg_modules_load(blob, nbytes, &pool, &modules);
        if ((error == kTvmErrorNoError) != (modules.num_modules > 0U)) {
            exit(5);
        }
        printf("%d %lu", (int)error, (unsigned long)(pool.at - block));
        for (count = read_number(); count > 0U; count--) {
            look_up(&modules);
        }
        for (count = read_number(); count > 0U; count--) {
            run(&modules);
        }
        putchar('\n');
        free(blob);
        free(block);
    }
}
