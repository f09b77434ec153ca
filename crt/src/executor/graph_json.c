/* SPDX-License-Identifier: Apache-2.0 */
#include "executor/graph_parts.h"

/* Each name ends with a NUL, and one more NUL ends the list. The enum below has their positions. */
static const char graph_keys[] = "nodes\0arg_nodes\0heads\0node_row_ptr\0attrs\0metadata\0";
enum {
    PARTS = 5
}; /* the first ones, which every graph has */

static const char attr_keys[] = "dltype\0shape\0storage_id\0device_index\0";
enum {
    LISTS = 3,
    DEVICE_INDEX = LISTS
};

static const char type_names[] = "list_str\0list_shape\0list_int\0size_t\0";
enum {
    LIST_STR,
    LIST_SHAPE,
    LIST_INT,
    SIZE_T
};

static const char node_keys[] = "op\0name\0inputs\0attrs\0attr\0";
enum {
    OP,
    NAME,
    INPUTS,
    NODE_PARTS,
    NODE_ATTRS = NODE_PARTS,
    NODE_ATTR
};

static const char op_names[] = "null\0tvm_op\0";
enum {
    OP_NULL,
    OP_TVM
};

static const char op_keys[] = "func_name\0num_inputs\0num_outputs\0flatten_data\0";
enum {
    FUNC_NAME,
    NUM_INPUTS,
    NUM_OUTPUTS,
    OP_PARTS,
    FLATTEN_DATA = OP_PARTS
};

static tvm_crt_error_t malformed_if_failed(const mg_json *json)
{
    return json->failed ? kTvmErrorExecutorGraphMalformed : kTvmErrorNoError;
}

/* Nodes */

static uint32_t text_number(mg_json *json, const mg_text *text)
{
    uint32_t value = 0U;

    mg_json_require(json, mg_text_unsigned(text, &value));
    return value;
}

/* Reads the attributes of an operator, all of which are texts. */
static tvm_crt_error_t read_op_attrs(mg_json *json, mg_graph_json_node *node, uint32_t *num_inputs)
{
    tvm_crt_error_t error = kTvmErrorNoError;
    uint32_t seen = 0U;
    uint32_t i;

    mg_json_open(json, '{');
    for (i = 0U; mg_json_more(json, i, '}'); i++) {
        const uint32_t key = mg_json_known_key(json, op_keys, &seen);
        mg_text value;
        mg_json_string(json, &value);
        switch (key) {
        case FUNC_NAME:
            node->function = value;
            break;
        case NUM_INPUTS:
            *num_inputs = text_number(json, &value);
            break;
        case NUM_OUTPUTS:
            node->num_outputs = text_number(json, &value);
            break;
        case FLATTEN_DATA:
            error = MG_TEXT_IS(&value, "0") ? error : kTvmErrorExecutorGraphUnsupported;
            break;
        default: /* layouts, hash, ... */
            break;
        }
    }
    mg_json_require(json, mg_json_has_all(seen, OP_PARTS) && node->function.length > 0U);
    return error;
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
    for (i = 0U; mg_json_more(json, i, '}'); i++) {
        switch (mg_json_known_key(json, node_keys, &seen)) {
        case OP:
            mg_json_string(json, &op);
            break;
        case NAME:
            mg_json_string(json, &node->name);
            break;
        case INPUTS:
            node->inputs = *json;
            node->num_inputs = mg_json_count_references(json);
            break;
        case NODE_ATTRS:
        case NODE_ATTR: /* an alternative name of the same key */
            mg_json_require(json, (~seen >> NODE_ATTRS & 3U) != 0U);
            attrs = *json;
            mg_json_skip(json);
            break;
        default:
            return json->failed ? kTvmErrorExecutorGraphMalformed
                                : kTvmErrorExecutorGraphUnsupported;
        }
    }
    mg_json_require(json, mg_json_has_all(seen, NODE_PARTS));
    if (json->failed) {
        return kTvmErrorExecutorGraphMalformed;
    }
    switch (mg_text_place(&op, op_names)) {
    case OP_NULL:
        mg_json_require(json, node->num_inputs == 0U);
        break;
    case OP_TVM: /* without "attrs" the reader is at the node, so it finds no "func_name" */
        error = read_op_attrs(&attrs, node, &num_inputs);
        mg_json_require(json, !attrs.failed && num_inputs == node->num_inputs);
        break;
    default:
        return kTvmErrorExecutorGraphUnsupported;
    }
    return json->failed ? kTvmErrorExecutorGraphMalformed : error;
}

/* Data types */

bool mg_graph_dtype(const mg_text *text, DLDataType *dtype)
{
    static const char names[] =
        "float32\0int8\0uint8\0int16\0int32\0int64\0bool\0uint1\0uint16\0uint32\0uint64\0"
        "float16\0float64\0";
    static const uint8_t codes[] = {kDLFloat, kDLInt,  kDLUInt, kDLInt,  kDLInt,   kDLInt,  kDLUInt,
                                    kDLUInt,  kDLUInt, kDLUInt, kDLUInt, kDLFloat, kDLFloat};
    static const uint8_t bits[] = {32U, 8U, 8U, 16U, 32U, 64U, 1U, 1U, 16U, 32U, 64U, 16U, 64U};
    const uint32_t i = mg_text_place(text, names);

    if (i == MG_TEXT_UNKNOWN) {
        return false;
    }
    dtype->code = codes[i];
    dtype->bits = bits[i];
    dtype->lanes = 1U;
    return true;
}

/* The whole graph */

/* Reads a value of "attrs": [type, value]. Returns the position of its type, and leaves `list` at
 * the value. */
static uint32_t read_typed(mg_json *json, mg_json *list)
{
    mg_text type;

    mg_json_open(json, '[');
    mg_json_require(json, mg_json_more(json, 0U, ']'));
    mg_json_string(json, &type);
    mg_json_require(json, mg_json_more(json, 1U, ']'));
    *list = *json;
    mg_json_skip(json);
    mg_json_require(json, !mg_json_more(json, 2U, ']'));
    return mg_text_place(&type, type_names);
}

/* The type of each of attr_keys. */
static const uint8_t attr_types[] = {LIST_STR, LIST_SHAPE, LIST_INT, LIST_INT};

static tvm_crt_error_t scan_attrs(mg_json *json, mg_graph_parts *parts, mg_json *device_index,
                                  bool *has_devices)
{
    mg_json *const places[] = {&parts->dltype, &parts->shape, &parts->storage_id, device_index};
    uint32_t seen = 0U;
    uint32_t i;

    mg_json_open(json, '{');
    for (i = 0U; mg_json_more(json, i, '}'); i++) {
        const uint32_t key = mg_json_known_key(json, attr_keys, &seen);
        mg_json list;
        const uint32_t type = read_typed(json, &list);
        if (key != MG_TEXT_UNKNOWN) {
            mg_json_require(json, type == attr_types[key]);
            *places[key] = list;
        } else if (!json->failed && type != LIST_INT && type != SIZE_T) {
            return kTvmErrorExecutorGraphUnsupported;
        }
    }
    mg_json_require(json, mg_json_has_all(seen, LISTS));
    *has_devices = (seen >> DEVICE_INDEX & 1U) != 0U;
    return malformed_if_failed(json);
}

static tvm_crt_error_t scan_parts(mg_json *json, mg_graph_parts *parts, mg_json *attrs)
{
    mg_json *const places[PARTS] = {&parts->nodes, &parts->arg_nodes, &parts->heads,
                                    &parts->node_row_ptr, attrs};
    uint32_t seen = 0U;
    uint32_t i;

    mg_json_open(json, '{');
    for (i = 0U; mg_json_more(json, i, '}'); i++) {
        const uint32_t key = mg_json_known_key(json, graph_keys, &seen);
        if (key == MG_TEXT_UNKNOWN) {
            return json->failed ? kTvmErrorExecutorGraphMalformed
                                : kTvmErrorExecutorGraphUnsupported;
        }
        if (key < PARTS) {
            *places[key] = *json;
        }
        mg_json_skip(json);
    }
    mg_json_require(json, mg_json_has_all(seen, PARTS) && mg_json_is_at_end(json));
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
        /* More outputs than characters cannot be described. The bound also keeps the sums small. */
        mg_json_require(&json, node.num_outputs < MG_GRAPH_MAX_TEXT &&
                                   counts->entries < MG_GRAPH_MAX_TEXT);
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

/* Counts the integers in an array, and stores the greatest plus one. */
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
    mg_json_require(&json, i == expected);
    return malformed_if_failed(&json);
}

/* Reads copies of the readers, so that the originals remain at the beginning of their parts. */
static tvm_crt_error_t count_parts(mg_graph_parts parts, mg_json device_index, bool has_devices,
                                   TVMGraphExecutorCounts *counts)
{
    uint32_t ignored;

    counts->inputs = count_integers(&parts.arg_nodes, &ignored);
    counts->outputs = mg_json_count_references(&parts.heads);
    mg_json_require(&parts.node_row_ptr,
                    count_integers(&parts.node_row_ptr, &ignored) == counts->nodes + 1U);
    mg_json_require(&parts.shape, count_dims(&parts.shape, &counts->dims) == counts->entries);
    mg_json_require(&parts.storage_id,
                    count_integers(&parts.storage_id, &counts->storages) == counts->entries);
    if (has_devices) {
        mg_json_require(&device_index, count_integers(&device_index, &ignored) == counts->entries);
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
    bool has_devices = false;
    tvm_crt_error_t error;

    *counts = none;
    if (length > MG_GRAPH_MAX_TEXT) {
        return kTvmErrorExecutorGraphUnsupported;
    }
    error = scan_parts(&json, parts, &attrs);
    if (error == kTvmErrorNoError) {
        error = scan_attrs(&attrs, parts, &device_index, &has_devices);
    }
    if (error == kTvmErrorNoError) {
        error = count_nodes(parts->nodes, counts);
    }
    if (error == kTvmErrorNoError) {
        error = count_parts(*parts, device_index, has_devices, counts);
    }
    return error == kTvmErrorNoError ? count_dtypes(parts->dltype, counts->entries) : error;
}
