/* SPDX-License-Identifier: Apache-2.0 */
/* Functions in a pool, made from text in the format ExampleJSON of TVM's guide "Bring Your Own
 * Codegen", and the parts of its runtime, each in a source of its name.
 * docs/reference/examplejson.md describes the format.
 *
 * The structs are linked by pointers, so the text is read only once, line by line.
 * microgen/tvm/codegens/examplejson/sizes.py depends on the sizes of the structs below. */
#ifndef MICROGEN_EXAMPLEJSON_GRAPH_H
#define MICROGEN_EXAMPLEJSON_GRAPH_H

#include "modules/module_pool.h"
#include "modules/module_stream.h"
#include "tvm/runtime/crt/error_codes.h"

#include <stdbool.h>
#include <stdint.h>

/* More axes are not supported. */
#define MG_EXAMPLEJSON_MAX_DIMS 6U

typedef enum {
    MG_EXAMPLEJSON_INPUT,
    MG_EXAMPLEJSON_ADD,
    MG_EXAMPLEJSON_SUB,
    MG_EXAMPLEJSON_MUL
} mg_examplejson_op;

/* The place of a node's value. Only while the workspace is planned, it also says whether other
 * values may use the place. */
typedef enum {
    MG_EXAMPLEJSON_WORKSPACE,
    MG_EXAMPLEJSON_ARGUMENT,
    MG_EXAMPLEJSON_FREE /* in the workspace, and not needed any more */
} mg_examplejson_storage;

typedef struct mg_examplejson_node mg_examplejson_node;

struct mg_examplejson_node {
    mg_examplejson_node *next;
    mg_examplejson_node *operands[2]; /* NULL for an input */
    const mg_examplejson_node *last_reader;
    const int64_t *shape; /* an operator uses the one of its operand */
    int32_t ndim;
    uint32_t nbytes;
    uint32_t id;
    uint32_t place;  /* number of the argument, or offset in the workspace in bytes */
    uint8_t op;      /* mg_examplejson_op */
    uint8_t storage; /* mg_examplejson_storage */
};

/* The results of a function, in the order of its arguments. */
typedef struct mg_examplejson_output mg_examplejson_output;

struct mg_examplejson_output {
    mg_examplejson_output *next;
    mg_examplejson_node *node;
};

typedef struct mg_examplejson_function mg_examplejson_function;

struct mg_examplejson_function {
    mg_examplejson_function *next;
    mg_examplejson_node *nodes;
    mg_examplejson_output *outputs;
    uint32_t num_inputs;
    uint32_t num_outputs;
    uint32_t workspace_bytes;
    mg_text symbol;
};

/* Reads the functions of a text. Returns kTvmErrorExecutorGraphMalformed if the text is not
 * ExampleJSON, kTvmErrorExecutorGraphUnsupported for an unknown operator, and
 * kTvmErrorPlatformNoMemory if the pool is too small or a workspace would need more than INT32_MAX
 * bytes. */
MG_EXTERN tvm_crt_error_t mg_examplejson_read(mg_text text, mg_pool *pool,
                                              mg_examplejson_function **functions);

/* Assigns a place in the workspace to each value, and sets the size of the workspace. A value takes
 * the place of the first value of the same size that is not read any more. If there is none, it
 * comes after all others. Returns false if the workspace would need more than INT32_MAX bytes. */
MG_EXTERN bool mg_examplejson_plan(mg_examplejson_function *function);

/* Splits a text into lines, and lines into words, which are separated by spaces, tabs and carriage
 * returns. */

/* Removes the next line and the line feed after it from `text`. Returns the line. */
MG_EXTERN mg_text mg_words_line(mg_text *text);

/* Removes the next word from `line`. Returns the word, which is empty at the end of the line. */
MG_EXTERN mg_text mg_words_next(mg_text *line);

MG_EXTERN uint32_t mg_words_count(mg_text line);

/* Whether a word equals or contains a string literal. */
#define MG_WORD_IS(word, literal) mg_word_is((word), (literal), sizeof(literal) - 1U)
#define MG_WORD_HAS(word, literal) mg_word_has((word), (literal), sizeof(literal) - 1U)

MG_EXTERN bool mg_word_is(mg_text word, const char *bytes, uint32_t length);
MG_EXTERN bool mg_word_has(mg_text word, const char *bytes, uint32_t length);

#endif
