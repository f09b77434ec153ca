/* Loaders of modules for tests, and a call of a function with numbers.
 *
 * "toy" and "dnnl_json": string symbol, string text, list of names. The function adds to its input
 * the text's length and all constants. "pair": list of strings, each the symbol of a function; the
 * function adds its number. "greedy" takes a block of as many bytes as its only number says. */
#ifndef TESTS_MODULE_BLOB_TOY_H
#define TESTS_MODULE_BLOB_TOY_H

#include "modules/module_blob.h"

/* The constants "c0", "c1", ...: 1, 10, 100, ... */
#define TOY_CONSTANTS 4
extern const mg_module_constant toy_constants[TOY_CONSTANTS];

/* Calls the function with `x`, and stores its result. */
tvm_crt_error_t toy_call(const mg_modules *modules, mg_module_function function, int32_t x,
                         int32_t *y);

/* A block of exactly so many bytes, so that AddressSanitizer finds one byte too many. */
void *toy_block(size_t nbytes);

#endif
