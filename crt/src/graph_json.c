#include "graph_json.h"

/* Keeps every count and every size that follows from one below 2^31: an item takes two characters
 * at least and no more than 64 bytes of tables. */
#define MAX_LENGTH (1UL << 24)

/* Parts of a whole, as bits. */
enum {
    NODES = 1,
    ARG_NODES = 2,
    HEADS = 4,
    NODE_ROW_PTR = 8,
    ATTRS = 16,
    ALL_PARTS = 31
};
enum {
    DLTYPE = 1,
    SHAPE = 2,
    STORAGE_ID = 4,
    ALL_ATTRS = 7,
    DEVICE_INDEX = 8
};
enum {
    OP = 1,
    NAME = 2,
    INPUTS = 4,
    ALL_OF_NODE = 7,
    NODE_ATTRS = 8
};
enum {
    FUNC_NAME = 1,
    NUM_INPUTS = 2,
    NUM_OUTPUTS = 4,
    ALL_OF_OP = 7,
    FLATTEN_DATA = 8
};

/* Notes that a key was read: not twice. */
static void once(mg_json *json, uint32_t *seen, uint32_t key)
{
    if ((*seen & key) != 0U) {
        mg_json_fail(json);
    }
    *seen |= key;
}

static void require(mg_json *json, bool condition)
{
    if (!condition) {
        mg_json_fail(json);
    }
}

static tvm_crt_error_t malformed_if_failed(const mg_json *json)
{
    return json->failed ? kTvmErrorExecutorGraphMalformed : kTvmErrorNoError;
}

/* Nodes */

static uint32_t text_number(mg_json *json, const mg_text *text)
{
    uint32_t value = 0U;

    require(json, mg_text_unsigned(text, &value));
    return value;
}

/* The attributes of an operator: texts, all of them. */
static tvm_crt_error_t read_op_attrs(mg_json *json, mg_graph_json_node *node, uint32_t *num_inputs)
{
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t seen = 0U;
    uint32_t i;

    mg_json_open(json, '{');
    for (i = 0U; mg_json_more(json, i, '}'); i++) {
        mg_text key;
        mg_text value;
        mg_json_key(json, &key);
        mg_json_string(json, &value);
        if (MG_TEXT_IS(&key, "func_name")) {
            once(json, &seen, FUNC_NAME);
            node->function = value;
        } else if (MG_TEXT_IS(&key, "num_inputs")) {
            once(json, &seen, NUM_INPUTS);
            *num_inputs = text_number(json, &value);
        } else if (MG_TEXT_IS(&key, "num_outputs")) {
            once(json, &seen, NUM_OUTPUTS);
            node->num_outputs = text_number(json, &value);
        } else if (MG_TEXT_IS(&key, "flatten_data")) {
            once(json, &seen, FLATTEN_DATA);
            if (!MG_TEXT_IS(&value, "0")) {
                error = kTvmErrorExecutorGraphUnsupported;
            }
        }
    }
    require(json, (seen & ALL_OF_OP) == ALL_OF_OP && node->function.length > 0U);
    return error;
}

mg_graph_reference mg_graph_read_reference(mg_json *json)
{
    mg_graph_reference reference = {0U, 0U};
    uint32_t i;

    mg_json_open(json, '[');
    for (i = 0U; mg_json_more(json, i, ']'); i++) {
        const uint32_t value = mg_json_unsigned(json);
        if (i == 0U) {
            reference.node = value;
        } else if (i == 1U) {
            reference.index = value;
        }
    }
    require(json, i == 2U || i == 3U);
    return reference;
}

static uint32_t count_references(mg_json *json)
{
    uint32_t i;

    mg_json_open(json, '[');
    for (i = 0U; mg_json_more(json, i, ']'); i++) {
        (void)mg_graph_read_reference(json);
    }
    return i;
}

tvm_crt_error_t mg_graph_read_node(mg_json *json, mg_graph_json_node *node)
{
    const mg_text empty = {json->end, 0U};
    mg_text op = empty;
    mg_json attrs = *json;
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t num_inputs = 0U;
    uint32_t seen = 0U;
    uint32_t i;

    node->name = empty;
    node->function = empty;
    node->inputs = *json;
    node->num_inputs = 0U;
    node->num_outputs = 1U;
    mg_json_open(json, '{');
    for (i = 0U; mg_json_more(json, i, '}') && error == kTvmErrorNoError; i++) {
        mg_text key;
        mg_json_key(json, &key);
        if (MG_TEXT_IS(&key, "op")) {
            once(json, &seen, OP);
            mg_json_string(json, &op);
        } else if (MG_TEXT_IS(&key, "name")) {
            once(json, &seen, NAME);
            mg_json_string(json, &node->name);
        } else if (MG_TEXT_IS(&key, "inputs")) {
            once(json, &seen, INPUTS);
            node->inputs = *json;
            node->num_inputs = count_references(json);
        } else if (MG_TEXT_IS(&key, "attrs") || MG_TEXT_IS(&key, "attr")) {
            once(json, &seen, NODE_ATTRS);
            attrs = *json;
            mg_json_skip(json);
        } else if (!json->failed) {
            error = kTvmErrorExecutorGraphUnsupported;
        }
    }
    if (error != kTvmErrorNoError) {
        return error;
    }
    require(json, (seen & ALL_OF_NODE) == ALL_OF_NODE);
    if (MG_TEXT_IS(&op, "null")) {
        require(json, node->num_inputs == 0U);
    } else if (MG_TEXT_IS(&op, "tvm_op")) {
        require(json, (seen & NODE_ATTRS) != 0U);
        error = read_op_attrs(&attrs, node, &num_inputs);
        require(json, !attrs.failed && num_inputs == node->num_inputs);
    } else if (!json->failed) {
        error = kTvmErrorExecutorGraphUnsupported;
    }
    return error;
}

/* Data types */

bool mg_graph_dtype(const mg_text *text, DLDataType *dtype)
{
    static const struct {
        const char *name;
        uint8_t length;
        uint8_t code;
        uint8_t bits;
    } dtypes[] = {
        {"float32", 7U, kDLFloat, 32U}, {"int8", 4U, kDLInt, 8U},
        {"uint8", 5U, kDLUInt, 8U},     {"int16", 5U, kDLInt, 16U},
        {"int32", 5U, kDLInt, 32U},     {"int64", 5U, kDLInt, 64U},
        {"bool", 4U, kDLUInt, 1U},      {"uint1", 5U, kDLUInt, 1U},
        {"uint16", 6U, kDLUInt, 16U},   {"uint32", 6U, kDLUInt, 32U},
        {"uint64", 6U, kDLUInt, 64U},   {"float16", 7U, kDLFloat, 16U},
        {"float64", 7U, kDLFloat, 64U},
    };
    uint32_t i;

    for (i = 0U; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
        if (mg_text_is(text, dtypes[i].name, dtypes[i].length)) {
            dtype->code = dtypes[i].code;
            dtype->bits = dtypes[i].bits;
            dtype->lanes = 1U;
            return true;
        }
    }
    return false;
}

/* The whole */

/* A value of "attrs": [type, value]. Leaves `list` at the value. */
static void read_typed(mg_json *json, mg_text *type, mg_json *list)
{
    mg_json_open(json, '[');
    require(json, mg_json_more(json, 0U, ']'));
    mg_json_string(json, type);
    require(json, mg_json_more(json, 1U, ']'));
    *list = *json;
    mg_json_skip(json);
    require(json, !mg_json_more(json, 2U, ']'));
}

static tvm_crt_error_t scan_attrs(mg_json *json, mg_graph_parts *parts, mg_json *device_index,
                                  uint32_t *seen)
{
    uint32_t i;

    mg_json_open(json, '{');
    for (i = 0U; mg_json_more(json, i, '}'); i++) {
        mg_text key;
        mg_text type;
        mg_json list;
        mg_json_key(json, &key);
        read_typed(json, &type, &list);
        if (MG_TEXT_IS(&key, "dltype")) {
            once(json, seen, DLTYPE);
            require(json, MG_TEXT_IS(&type, "list_str"));
            parts->dltype = list;
        } else if (MG_TEXT_IS(&key, "shape")) {
            once(json, seen, SHAPE);
            require(json, MG_TEXT_IS(&type, "list_shape"));
            parts->shape = list;
        } else if (MG_TEXT_IS(&key, "storage_id")) {
            once(json, seen, STORAGE_ID);
            require(json, MG_TEXT_IS(&type, "list_int"));
            parts->storage_id = list;
        } else if (MG_TEXT_IS(&key, "device_index")) {
            once(json, seen, DEVICE_INDEX);
            require(json, MG_TEXT_IS(&type, "list_int"));
            *device_index = list;
        } else if (!json->failed && !MG_TEXT_IS(&type, "list_int") &&
                   !MG_TEXT_IS(&type, "size_t")) {
            return kTvmErrorExecutorGraphUnsupported;
        }
    }
    require(json, (*seen & ALL_ATTRS) == ALL_ATTRS);
    return malformed_if_failed(json);
}

static tvm_crt_error_t scan_parts(mg_json *json, mg_graph_parts *parts, mg_json *attrs)
{
    uint32_t seen = 0U;
    uint32_t i;

    mg_json_open(json, '{');
    for (i = 0U; mg_json_more(json, i, '}'); i++) {
        mg_text key;
        mg_json_key(json, &key);
        if (MG_TEXT_IS(&key, "nodes")) {
            once(json, &seen, NODES);
            parts->nodes = *json;
        } else if (MG_TEXT_IS(&key, "arg_nodes")) {
            once(json, &seen, ARG_NODES);
            parts->arg_nodes = *json;
        } else if (MG_TEXT_IS(&key, "heads")) {
            once(json, &seen, HEADS);
            parts->heads = *json;
        } else if (MG_TEXT_IS(&key, "node_row_ptr")) {
            once(json, &seen, NODE_ROW_PTR);
            parts->node_row_ptr = *json;
        } else if (MG_TEXT_IS(&key, "attrs")) {
            once(json, &seen, ATTRS);
            *attrs = *json;
        } else if (!json->failed && !MG_TEXT_IS(&key, "metadata")) {
            return kTvmErrorExecutorGraphUnsupported;
        }
        mg_json_skip(json);
    }
    require(json, seen == ALL_PARTS && mg_json_is_at_end(json));
    return malformed_if_failed(json);
}

static tvm_crt_error_t count_nodes(mg_json json, TVMGraphExecutorCounts *counts)
{
    mg_graph_json_node node;
    uint32_t i;

    mg_json_open(&json, '[');
    for (i = 0U; mg_json_more(&json, i, ']'); i++) {
        const tvm_crt_error_t error = mg_graph_read_node(&json, &node);
        if (error != kTvmErrorNoError) {
            return error;
        }
        /* More outputs than the text has room to describe: sums stay small. */
        require(&json, node.num_outputs < MAX_LENGTH && counts->entries < MAX_LENGTH);
        counts->entries += node.num_outputs;
        if (node.function.length > 0U) {
            const uint32_t args = node.num_inputs + node.num_outputs;
            counts->args += args;
            counts->max_args = args > counts->max_args ? args : counts->max_args;
        }
    }
    counts->nodes = i;
    return malformed_if_failed(&json);
}

/* The number of integers in an array, and the greatest and one more. */
static uint32_t count_integers(mg_json *json, uint32_t *bound)
{
    uint32_t i;

    *bound = 0U;
    mg_json_open(json, '[');
    for (i = 0U; mg_json_more(json, i, ']'); i++) {
        const uint32_t value = mg_json_unsigned(json);
        *bound = value >= *bound ? value + 1U : *bound;
    }
    return i;
}

static uint32_t count_dims(mg_json *json, uint32_t *dims)
{
    uint32_t ignored;
    uint32_t i;

    mg_json_open(json, '[');
    for (i = 0U; mg_json_more(json, i, ']'); i++) {
        *dims += count_integers(json, &ignored);
    }
    return i;
}

static tvm_crt_error_t count_dtypes(mg_json json, uint32_t expected)
{
    uint32_t i;

    mg_json_open(&json, '[');
    for (i = 0U; mg_json_more(&json, i, ']'); i++) {
        DLDataType dtype;
        mg_text text;
        mg_json_string(&json, &text);
        if (!json.failed && !mg_graph_dtype(&text, &dtype)) {
            return kTvmErrorExecutorGraphUnsupported;
        }
    }
    require(&json, i == expected);
    return malformed_if_failed(&json);
}

/* Readers are copied: the parts stay where they are. */
static tvm_crt_error_t count_parts(mg_graph_parts parts, mg_json device_index, bool has_devices,
                                   TVMGraphExecutorCounts *counts)
{
    uint32_t ignored;

    counts->inputs = count_integers(&parts.arg_nodes, &ignored);
    counts->outputs = count_references(&parts.heads);
    require(&parts.node_row_ptr,
            count_integers(&parts.node_row_ptr, &ignored) == counts->nodes + 1U);
    require(&parts.shape, count_dims(&parts.shape, &counts->dims) == counts->entries);
    require(&parts.storage_id,
            count_integers(&parts.storage_id, &counts->storages) == counts->entries);
    if (has_devices) {
        require(&device_index, count_integers(&device_index, &ignored) == counts->entries);
    }
    if (parts.arg_nodes.failed || parts.heads.failed || parts.node_row_ptr.failed ||
        parts.shape.failed || parts.storage_id.failed || (has_devices && device_index.failed)) {
        return kTvmErrorExecutorGraphMalformed;
    }
    return counts->storages > counts->entries ? kTvmErrorGeneratedInvalidStorageId
                                              : kTvmErrorNoError;
}

tvm_crt_error_t mg_graph_scan(const char *text, size_t length, mg_graph_parts *parts,
                              TVMGraphExecutorCounts *counts)
{
    const TVMGraphExecutorCounts none = {0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U};
    mg_json json = {text, text + length, false};
    mg_json attrs = json;
    mg_json device_index = json;
    uint32_t seen = 0U;
    tvm_crt_error_t error;

    *counts = none;
    if (length > MAX_LENGTH) {
        return kTvmErrorExecutorGraphUnsupported;
    }
    error = scan_parts(&json, parts, &attrs);
    if (error == kTvmErrorNoError) {
        error = scan_attrs(&attrs, parts, &device_index, &seen);
    }
    if (error == kTvmErrorNoError) {
        error = count_nodes(parts->nodes, counts);
    }
    if (error == kTvmErrorNoError) {
        error = count_parts(*parts, device_index, (seen & DEVICE_INDEX) != 0U, counts);
    }
    return error == kTvmErrorNoError ? count_dtypes(parts->dltype, counts->entries) : error;
}
