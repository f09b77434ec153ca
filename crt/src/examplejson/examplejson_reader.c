/* SPDX-License-Identifier: Apache-2.0 */
#include "examplejson/examplejson_graph.h"

#include <stdbool.h>

typedef struct {
    mg_pool *pool;
    mg_examplejson_function *functions;
    mg_examplejson_function *function; /* the one being read; NULL if a header must follow */
    tvm_crt_error_t error;             /* the first one; reading ends there */
} reader;

static void fail(reader *in, tvm_crt_error_t error)
{
    if (in->error == kTvmErrorNoError) {
        in->error = error;
    }
}

static void require(reader *in, bool condition)
{
    if (!condition) {
        fail(in, kTvmErrorExecutorGraphMalformed);
    }
}

static void *take(reader *in, size_t count, size_t size)
{
    void *const block = mg_pool_take(in->pool, count, size);

    if (block == NULL) {
        fail(in, kTvmErrorPlatformNoMemory);
    }
    return block;
}

static uint32_t next_number(reader *in, mg_text *line)
{
    const mg_text word = mg_words_next(line);
    uint32_t value = 0U;

    require(in, mg_text_unsigned(&word, &value));
    return value;
}

/* Nodes */

static mg_examplejson_node *find_node(const mg_examplejson_function *function, uint32_t id)
{
    mg_examplejson_node *node = function->nodes;

    while (node != NULL && node->id != id) {
        node = node->next;
    }
    return node;
}

static void append_node(mg_examplejson_function *function, mg_examplejson_node *node)
{
    mg_examplejson_node **end = &function->nodes;

    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = node;
}

static mg_examplejson_node *new_node(reader *in, mg_text *line)
{
    const uint32_t id = next_number(in, line);
    mg_examplejson_node *node;

    require(in, find_node(in->function, id) == NULL);
    if (in->error != kTvmErrorNoError) {
        return NULL;
    }
    node = take(in, 1U, sizeof(*node));
    if (node != NULL) {
        node->id = id;
    }
    return node;
}

static void read_shape(reader *in, mg_text line, mg_examplejson_node *node)
{
    const uint32_t ndim = mg_words_count(line);
    int64_t *shape;
    uint32_t i;

    require(in, ndim >= 1U && ndim <= MG_EXAMPLEJSON_MAX_DIMS);
    shape = in->error == kTvmErrorNoError ? take(in, ndim, sizeof(*shape)) : NULL;
    if (shape == NULL) {
        return;
    }
    node->nbytes = (uint32_t)sizeof(float);
    for (i = 0U; i < ndim && in->error == kTvmErrorNoError; i++) {
        const uint32_t dim = next_number(in, &line);
        require(in, dim >= 1U && dim <= (uint32_t)INT32_MAX / node->nbytes);
        node->nbytes *= dim;
        shape[i] = (int64_t)dim;
    }
    node->shape = shape;
    node->ndim = (int32_t)ndim;
}

/* Reads: input <id> <shape> */
static void read_input(reader *in, mg_text line)
{
    mg_examplejson_node *const node = new_node(in, &line);

    if (node != NULL) {
        read_shape(in, line, node);
        node->op = MG_EXAMPLEJSON_INPUT;
        node->storage = MG_EXAMPLEJSON_ARGUMENT;
        node->place = in->function->num_inputs;
        in->function->num_inputs++;
        append_node(in->function, node);
    }
}

static bool has_shape(reader *in, const mg_examplejson_node *node, mg_text line)
{
    int32_t i;

    for (i = 0; i < node->ndim; i++) {
        if ((int64_t)next_number(in, &line) != node->shape[i]) {
            return false;
        }
    }
    return mg_words_next(&line).length == 0U;
}

/* Reads an operand of `node`, which must be the node of an earlier line. `node` is not in the
 * function's list yet. */
static mg_examplejson_node *read_operand(reader *in, mg_text *line, const mg_examplejson_node *node)
{
    mg_examplejson_node *const operand = find_node(in->function, next_number(in, line));

    require(in, operand != NULL);
    if (operand != NULL) {
        operand->last_reader = node;
    }
    return operand;
}

static mg_examplejson_op op_of(reader *in, mg_text word)
{
    if (MG_WORD_IS(word, "add")) {
        return MG_EXAMPLEJSON_ADD;
    }
    if (MG_WORD_IS(word, "sub")) {
        return MG_EXAMPLEJSON_SUB;
    }
    if (!MG_WORD_IS(word, "mul")) {
        fail(in, kTvmErrorExecutorGraphUnsupported);
    }
    return MG_EXAMPLEJSON_MUL;
}

/* Reads: <op> <id> inputs: <id> <id> shape: <shape> */
static void read_operator(reader *in, mg_text word, mg_text line)
{
    const mg_examplejson_op op = op_of(in, word);
    mg_examplejson_node *const node = new_node(in, &line);
    uint32_t i;

    if (node == NULL) {
        return;
    }
    require(in, MG_WORD_IS(mg_words_next(&line), "inputs:"));
    for (i = 0U; i < 2U; i++) {
        node->operands[i] = read_operand(in, &line, node);
    }
    require(in, MG_WORD_IS(mg_words_next(&line), "shape:"));
    for (i = 0U; i < 2U && in->error == kTvmErrorNoError; i++) {
        require(in, has_shape(in, node->operands[i], line));
    }
    if (in->error == kTvmErrorNoError) {
        node->op = (uint8_t)op;
        node->shape = node->operands[0]->shape;
        node->ndim = node->operands[0]->ndim;
        node->nbytes = node->operands[0]->nbytes;
        append_node(in->function, node);
    }
}

/* Functions */

static void add_output(reader *in, mg_examplejson_node *node)
{
    mg_examplejson_function *const function = in->function;
    mg_examplejson_output **end = &function->outputs;

    require(in, node != NULL);
    if (in->error != kTvmErrorNoError) {
        return;
    }
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = take(in, 1U, sizeof(**end));
    if (*end == NULL) {
        return;
    }
    (*end)->node = node;
    if (node->storage != MG_EXAMPLEJSON_ARGUMENT) {
        node->storage = MG_EXAMPLEJSON_ARGUMENT;
        node->place = function->num_inputs + function->num_outputs;
    }
    function->num_outputs++;
}

static mg_examplejson_node *last_operator(const mg_examplejson_function *function)
{
    mg_examplejson_node *found = NULL;
    mg_examplejson_node *node;

    for (node = function->nodes; node != NULL; node = node->next) {
        found = node->op != MG_EXAMPLEJSON_INPUT ? node : found;
    }
    return found;
}

/* Ends the subgraph that is being read. */
static void end_subgraph(reader *in)
{
    if (in->function == NULL || in->error != kTvmErrorNoError) {
        return;
    }
    if (in->function->outputs == NULL) {
        add_output(in, last_operator(in->function));
    }
    if (in->error == kTvmErrorNoError && !mg_examplejson_plan(in->function)) {
        fail(in, kTvmErrorPlatformNoMemory);
    }
    in->function = NULL;
}

/* subgraph_<k> */
static void read_header(reader *in, mg_text word, mg_text line)
{
    mg_examplejson_function **end = &in->functions;

    end_subgraph(in);
    require(in, mg_words_next(&line).length == 0U);
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = take(in, 1U, sizeof(**end));
    in->function = *end;
    if (*end != NULL) {
        (*end)->symbol = word;
    }
}

/* Reads: subgraph_<k>: <symbol> outputs: <ids>, the last line of a subgraph. The outputs may be
 * absent. */
static void read_name(reader *in, mg_text word, mg_text line)
{
    mg_text symbol;

    word.length--; /* the colon */
    require(in, in->function != NULL && mg_text_same(word, in->function->symbol));
    symbol = mg_words_next(&line);
    require(in, symbol.length > 0U);
    if (in->error != kTvmErrorNoError) {
        return;
    }
    in->function->symbol = symbol;
    if (mg_words_count(line) > 0U) {
        require(in, MG_WORD_IS(mg_words_next(&line), "outputs:") && mg_words_count(line) > 0U);
        while (in->error == kTvmErrorNoError && mg_words_count(line) > 0U) {
            add_output(in, find_node(in->function, next_number(in, &line)));
        }
    }
    end_subgraph(in);
}

static void read_line(reader *in, mg_text line)
{
    const mg_text word = mg_words_next(&line);

    if (word.length == 0U) {
        return;
    }
    if (MG_WORD_HAS(word, "subgraph_")) { /* according to TVM's guide */
        if (word.at[word.length - 1U] == ':') {
            read_name(in, word, line);
        } else {
            read_header(in, word, line);
        }
    } else if (in->function == NULL) {
        fail(in, kTvmErrorExecutorGraphMalformed);
    } else if (MG_WORD_IS(word, "input")) {
        read_input(in, line);
    } else {
        read_operator(in, word, line);
    }
}

static bool has_twins(const mg_examplejson_function *function)
{
    const mg_examplejson_function *other;

    for (; function != NULL; function = function->next) {
        for (other = function->next; other != NULL; other = other->next) {
            if (mg_text_same(function->symbol, other->symbol)) {
                return true;
            }
        }
    }
    return false;
}

tvm_crt_error_t mg_examplejson_read(mg_text text, mg_pool *pool,
                                    mg_examplejson_function **functions)
{
    reader in = {pool, NULL, NULL, kTvmErrorNoError};

    while (text.length > 0U && in.error == kTvmErrorNoError) {
        read_line(&in, mg_words_line(&text));
    }
    end_subgraph(&in);
    require(&in, !has_twins(in.functions));
    *functions = in.functions;
    return in.error;
}
