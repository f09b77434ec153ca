/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/dnnl_check.h"

static bool is_pool(const mg_dnnl_node *node)
{
    return node->op >= MG_DNNL_MAX_POOL2D && node->op <= MG_DNNL_GLOBAL_AVG_POOL2D;
}

static uint32_t expected_inputs(const mg_dnnl_node *node)
{
    switch (node->op) {
    case MG_DNNL_CONV2D:
    case MG_DNNL_DENSE:
        return 2U + ((node->fused & MG_DNNL_BIAS) != 0U ? 1U : 0U) +
               ((node->fused & MG_DNNL_SUM) != 0U ? 1U : 0U);
    case MG_DNNL_BATCH_MATMUL:
    case MG_DNNL_ADD:
    case MG_DNNL_MULTIPLY:
        return 2U;
    case MG_DNNL_BATCH_NORM:
        return 5U;
    default:
        return 1U;
    }
}

/* Checks numpy's rule of broadcasting, which is also Relay's. */
static void check_broadcast(const mg_dnnl_graph *graph, const mg_dnnl_node *node,
                            mg_dnnl_attrs *attrs)
{
    const mg_dnnl_node *const lhs = mg_dnnl_input(graph, node, 0U);
    const mg_dnnl_node *const rhs = mg_dnnl_input(graph, node, 1U);
    uint32_t i;

    mg_dnnl_require(attrs, node->ndim == (lhs->ndim > rhs->ndim ? lhs->ndim : rhs->ndim));
    for (i = 0U; i < node->ndim; i++) {
        const int32_t a = mg_dnnl_dim_from_end(lhs, i);
        const int32_t b = mg_dnnl_dim_from_end(rhs, i);
        mg_dnnl_require(attrs, (a == b || a == 1 || b == 1) &&
                                   mg_dnnl_dim_from_end(node, i) == (a == 1 ? b : a));
    }
}

/* Whether one axis of an operand has size `channels`, and all others have size 1. */
static bool is_per_channel(const mg_dnnl_node *operand, int32_t channels)
{
    bool found = channels == 1 && mg_dnnl_elements(operand) == 1;
    uint32_t i;

    for (i = 0U; i < operand->ndim; i++) {
        found = found || operand->dims[i] == channels;
    }
    return found && mg_dnnl_elements(operand) == channels;
}

/* Checks the bias and the sum that are fused into a convolution or a dense layer. The node's `axis`
 * must already be that of its output channels. */
static void check_fused(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    const uint32_t sum = node->num_inputs - 1U;

    if ((node->fused & MG_DNNL_BIAS) != 0U) {
        const mg_dnnl_node *const bias = mg_dnnl_input(graph, node, 2U);
        mg_dnnl_require(attrs, is_per_channel(bias, node->dims[node->axis]));
    }
    if ((node->fused & MG_DNNL_SUM) != 0U) {
        mg_dnnl_require(attrs, mg_dnnl_same_shape(mg_dnnl_input(graph, node, sum), node));
    }
}

/* Shapes: [..., k] by [units, k] gives [..., units]. */
static void check_dense(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    const mg_dnnl_node *const data = mg_dnnl_input(graph, node, 0U);
    const mg_dnnl_node *const weight = mg_dnnl_input(graph, node, 1U);
    mg_dnnl_node expected = *data;

    mg_dnnl_require(attrs, data->ndim >= 1U && weight->ndim == 2U);
    if (attrs->error != kTvmErrorNoError) {
        return;
    }
    node->axis = (uint8_t)(data->ndim - 1U);
    mg_dnnl_require(attrs, data->dims[node->axis] == weight->dims[1]);
    expected.dims[node->axis] = weight->dims[0];
    mg_dnnl_require(attrs, mg_dnnl_same_shape(&expected, node));
    if (mg_dnnl_has(attrs, MG_DNNL_UNITS)) {
        mg_dnnl_require(attrs, mg_dnnl_number(attrs, MG_DNNL_UNITS) == (uint32_t)weight->dims[0]);
    }
}

/* Shapes: [batches, rows, depth] by [batches, depth, columns], with broadcast batches. */
static void check_batch_matmul(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    const mg_dnnl_node *const lhs = mg_dnnl_input(graph, node, 0U);
    const mg_dnnl_node *const rhs = mg_dnnl_input(graph, node, 1U);
    const bool a = mg_dnnl_flag(attrs, MG_DNNL_TRANSPOSE_A, 1U) != 0U;
    const bool b = mg_dnnl_flag(attrs, MG_DNNL_TRANSPOSE_B, 1U) != 0U;

    mg_dnnl_require(attrs, lhs->ndim == 3U && rhs->ndim == 3U && node->ndim == 3U);
    if (attrs->error == kTvmErrorNoError) {
        mg_dnnl_require(attrs,
                        lhs->dims[0] == rhs->dims[0] || lhs->dims[0] == 1 || rhs->dims[0] == 1);
        mg_dnnl_require(attrs, node->dims[0] == (lhs->dims[0] == 1 ? rhs->dims[0] : lhs->dims[0]));
        mg_dnnl_require(attrs, node->dims[1] == lhs->dims[a ? 2 : 1]);
        mg_dnnl_require(attrs, node->dims[2] == rhs->dims[b ? 1 : 2]);
        mg_dnnl_require(attrs, lhs->dims[a ? 1 : 2] == rhs->dims[b ? 2 : 1]);
    }
    node->flags = (uint8_t)((a ? MG_DNNL_TRANSPOSES_A : 0U) | (b ? MG_DNNL_TRANSPOSES_B : 0U));
}

static void check_batch_norm(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    uint32_t k;

    node->axis = mg_dnnl_axis(attrs, MG_DNNL_AXIS, node->ndim);
    node->real[0] = mg_dnnl_real(attrs, MG_DNNL_EPSILON);
    node->flags = (uint8_t)(mg_dnnl_flag(attrs, MG_DNNL_CENTER, MG_DNNL_IS_CENTERED) |
                            mg_dnnl_flag(attrs, MG_DNNL_SCALE, MG_DNNL_IS_SCALED));
    for (k = 1U; k < node->num_inputs && attrs->error == kTvmErrorNoError; k++) {
        const mg_dnnl_node *const parameter = mg_dnnl_input(graph, node, k);
        mg_dnnl_require(attrs,
                        parameter->ndim == 1U && parameter->dims[0] == node->dims[node->axis]);
    }
}

/* Windows over images */

static const char data_letters[] = "NCHW";
static const char weight_letters[] = "OIHW";

/* Reads the layout of the output, which is that of the input unless the attribute is present. */
static void read_out_layout(mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    node->out_layout = node->layout;
    if (mg_dnnl_has(attrs, MG_DNNL_OUT_LAYOUT)) {
        node->out_layout = mg_dnnl_read_layout(attrs, MG_DNNL_OUT_LAYOUT, data_letters);
    }
    node->axis = (uint8_t)mg_dnnl_axis_of(node->out_layout, MG_DNNL_CHANNELS_AXIS);
}

/* Reads [all], [rows, columns] or [top, left, bottom, right] as the last of these. */
static void read_padding(mg_dnnl_attrs *attrs, uint16_t padding[4])
{
    mg_text texts[4];
    const uint32_t count = mg_dnnl_texts(attrs, MG_DNNL_PADDING, texts, 4U);
    uint32_t i;

    mg_dnnl_require(attrs, count == 1U || count == 2U || count == 4U);
    if (attrs->error == kTvmErrorNoError) {
        mg_dnnl_numbers(attrs, MG_DNNL_PADDING, padding, count);
        for (i = count; i < 4U; i++) {
            padding[i] = padding[i - count];
        }
    }
}

/* The number of windows along an axis; 0 if the padded input is shorter than a window. */
static int64_t windows(int32_t size, uint32_t padding, int32_t taps, uint16_t dilation,
                       uint16_t stride, bool *is_exact)
{
    const int64_t last = (int64_t)size + padding - ((int64_t)(taps - 1) * dilation + 1);

    if (last < 0 || stride == 0U || dilation == 0U) {
        return 0;
    }
    *is_exact = *is_exact && last % stride == 0;
    return last / stride + 1;
}

/* Requires the output to have as many rows and columns as there are windows of `taps`. */
static void check_windows(const mg_dnnl_node *data, const mg_dnnl_node *node, const int32_t taps[2],
                          const uint16_t padding[4], bool *is_exact, mg_dnnl_attrs *attrs)
{
    uint32_t i;

    *is_exact = true;
    for (i = 0U; i < 2U; i++) {
        const uint32_t axis = MG_DNNL_ROWS_AXIS + i;
        const int32_t size = data->dims[mg_dnnl_axis_of(node->layout, axis)];
        const int32_t count = node->dims[mg_dnnl_axis_of(node->out_layout, axis)];
        mg_dnnl_require(attrs, windows(size, (uint32_t)padding[i] + padding[i + 2U], taps[i],
                                       node->dilation[i], node->stride[i], is_exact) == count);
    }
}

static void keep_padding(mg_dnnl_node *node, const uint16_t padding[4])
{
    node->padding[0] = padding[0];
    node->padding[1] = padding[1];
}

/* Requires "channels" and "kernel_size", if they are present, to agree with the weight. */
static void check_redundant(mg_dnnl_attrs *attrs, int32_t channels, const int32_t taps[2])
{
    uint16_t sizes[2] = {0U, 0U};

    if (mg_dnnl_has(attrs, MG_DNNL_CHANNELS)) {
        mg_dnnl_require(attrs, mg_dnnl_number(attrs, MG_DNNL_CHANNELS) == (uint32_t)channels);
    }
    if (mg_dnnl_has(attrs, MG_DNNL_KERNEL_SIZE)) {
        mg_dnnl_numbers(attrs, MG_DNNL_KERNEL_SIZE, sizes, 2U);
        mg_dnnl_require(attrs, sizes[0] == taps[0] && sizes[1] == taps[1]);
    }
}

/* Requires the channels of input, weight and output to agree with `groups`, and the batches to be
 * equal. */
static void check_channels(const mg_dnnl_node *data, const mg_dnnl_node *weight,
                           const mg_dnnl_node *node, uint32_t groups, mg_dnnl_attrs *attrs)
{
    const int32_t seen = mg_dnnl_dim(weight, node->kernel_layout, MG_DNNL_CHANNELS_AXIS);
    const int32_t channels = mg_dnnl_dim(data, node->layout, MG_DNNL_CHANNELS_AXIS);
    const int32_t filters = mg_dnnl_dim(weight, node->kernel_layout, MG_DNNL_BATCH_AXIS);

    mg_dnnl_require(attrs, groups > 0U && channels % seen == 0 &&
                               (uint32_t)(channels / seen) == groups &&
                               (uint32_t)filters % groups == 0U);
    mg_dnnl_require(attrs, filters == mg_dnnl_dim(node, node->out_layout, MG_DNNL_CHANNELS_AXIS));
    mg_dnnl_require(attrs, mg_dnnl_dim(data, node->layout, MG_DNNL_BATCH_AXIS) ==
                               mg_dnnl_dim(node, node->out_layout, MG_DNNL_BATCH_AXIS));
}

static void check_conv2d(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    const mg_dnnl_node *const data = mg_dnnl_input(graph, node, 0U);
    const mg_dnnl_node *const weight = mg_dnnl_input(graph, node, 1U);
    const uint32_t groups = mg_dnnl_number(attrs, MG_DNNL_GROUPS);
    uint16_t padding[4] = {0U};
    int32_t taps[2];
    bool is_exact;

    mg_dnnl_require(attrs, data->ndim == 4U && weight->ndim == 4U && node->ndim == 4U);
    node->layout = mg_dnnl_read_layout(attrs, MG_DNNL_DATA_LAYOUT, data_letters);
    node->kernel_layout = mg_dnnl_read_layout(attrs, MG_DNNL_KERNEL_LAYOUT, weight_letters);
    read_out_layout(node, attrs);
    mg_dnnl_numbers(attrs, MG_DNNL_STRIDES, node->stride, 2U);
    mg_dnnl_numbers(attrs, MG_DNNL_DILATION, node->dilation, 2U);
    read_padding(attrs, padding);
    if (attrs->error == kTvmErrorNoError) {
        taps[0] = mg_dnnl_dim(weight, node->kernel_layout, MG_DNNL_ROWS_AXIS);
        taps[1] = mg_dnnl_dim(weight, node->kernel_layout, MG_DNNL_COLUMNS_AXIS);
        check_channels(data, weight, node, groups, attrs);
        check_redundant(attrs, mg_dnnl_dim(weight, node->kernel_layout, MG_DNNL_BATCH_AXIS), taps);
        check_windows(data, node, taps, padding, &is_exact, attrs);
        keep_padding(node, padding);
    }
}

/* Sets the parameters of one window over the whole input. */
static void read_global(mg_dnnl_node *node)
{
    uint32_t i;

    for (i = 0U; i < 2U; i++) {
        node->stride[i] = 1U;
        node->dilation[i] = 1U;
    }
}

static void read_windows(mg_dnnl_node *node, mg_dnnl_attrs *attrs, uint16_t padding[4])
{
    node->dilation[0] = 1U;
    node->dilation[1] = 1U;
    mg_dnnl_numbers(attrs, MG_DNNL_POOL_SIZE, node->pool, 2U);
    mg_dnnl_numbers(attrs, MG_DNNL_STRIDES, node->stride, 2U);
    read_padding(attrs, padding);
    mg_dnnl_require(attrs, node->pool[0] > 0U && node->pool[1] > 0U);
    if (mg_dnnl_has(attrs, MG_DNNL_DILATION)) { /* older texts do not have it */
        mg_dnnl_numbers(attrs, MG_DNNL_DILATION, node->dilation, 2U);
    }
    if (node->op == MG_DNNL_AVG_POOL2D) {
        node->flags = mg_dnnl_flag(attrs, MG_DNNL_COUNT_INCLUDE_PAD, MG_DNNL_INCLUDES_PADDING);
    }
}

static void check_pool2d(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    const mg_dnnl_node *const data = mg_dnnl_input(graph, node, 0U);
    const bool is_global = mg_dnnl_is_global(node);
    uint16_t padding[4] = {0U};
    int32_t taps[2];
    uint32_t i;
    bool is_exact;

    mg_dnnl_require(attrs, data->ndim == 4U && node->ndim == 4U);
    node->layout = mg_dnnl_read_layout(attrs, MG_DNNL_LAYOUT, data_letters);
    read_out_layout(node, attrs);
    if (is_global) {
        read_global(node);
    } else {
        read_windows(node, attrs, padding);
    }
    if (attrs->error != kTvmErrorNoError) {
        return;
    }
    for (i = 0U; i < 2U; i++) {
        taps[i] =
            is_global ? mg_dnnl_dim(data, node->layout, MG_DNNL_ROWS_AXIS + i) : node->pool[i];
    }
    mg_dnnl_require(attrs, mg_dnnl_dim(data, node->layout, MG_DNNL_BATCH_AXIS) ==
                               mg_dnnl_dim(node, node->out_layout, MG_DNNL_BATCH_AXIS));
    mg_dnnl_require(attrs, mg_dnnl_dim(data, node->layout, MG_DNNL_CHANNELS_AXIS) ==
                               mg_dnnl_dim(node, node->out_layout, MG_DNNL_CHANNELS_AXIS));
    check_windows(data, node, taps, padding, &is_exact, attrs);
    keep_padding(node, padding);
    if (!is_global) { /* rounding up would give another number of windows */
        mg_dnnl_support(attrs, mg_dnnl_flag(attrs, MG_DNNL_CEIL_MODE, 1U) == 0U || is_exact);
    }
}

/* All operators */

static void check_same(const mg_dnnl_graph *graph, const mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    mg_dnnl_require(attrs, mg_dnnl_same_shape(mg_dnnl_input(graph, node, 0U), node));
}

static void check_by_operator(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    switch (node->op) {
    case MG_DNNL_CONV2D:
        check_conv2d(graph, node, attrs);
        break;
    case MG_DNNL_DENSE:
        check_dense(graph, node, attrs);
        break;
    case MG_DNNL_BATCH_MATMUL:
        check_batch_matmul(graph, node, attrs);
        break;
    case MG_DNNL_ADD:
    case MG_DNNL_MULTIPLY:
        check_broadcast(graph, node, attrs);
        break;
    case MG_DNNL_BATCH_NORM:
        check_same(graph, node, attrs);
        check_batch_norm(graph, node, attrs);
        break;
    case MG_DNNL_SOFTMAX:
        check_same(graph, node, attrs);
        node->axis = mg_dnnl_axis(attrs, MG_DNNL_AXIS, node->ndim);
        break;
    case MG_DNNL_LEAKY_RELU:
        check_same(graph, node, attrs);
        node->real[0] = mg_dnnl_real(attrs, MG_DNNL_ALPHA);
        break;
    default: /* pooling, and functions of one value */
        if (is_pool(node)) {
            check_pool2d(graph, node, attrs);
        } else {
            check_same(graph, node, attrs);
        }
        break;
    }
}

/* Checks that "out_dtype" is "float32" or absent. */
static void check_out_dtype(mg_dnnl_attrs *attrs)
{
    mg_text text;

    if (mg_dnnl_has(attrs, MG_DNNL_OUT_DTYPE)) {
        (void)mg_dnnl_texts(attrs, MG_DNNL_OUT_DTYPE, &text, 1U);
        mg_dnnl_support(attrs, attrs->error != kTvmErrorNoError || MG_TEXT_IS(&text, "float32"));
    }
}

void mg_dnnl_check(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    mg_dnnl_require(attrs, node->num_inputs == expected_inputs(node));
    mg_dnnl_require(attrs, node->num_outputs == (node->op == MG_DNNL_BATCH_NORM ? 3U : 1U) ||
                               node->num_outputs == 1U);
    check_out_dtype(attrs);
    if (attrs->error == kTvmErrorNoError) {
        check_by_operator(graph, node, attrs);
    }
    if (attrs->error == kTvmErrorNoError) {
        check_fused(graph, node, attrs);
    }
    if (node->op == MG_DNNL_CLIP || node->activation == MG_DNNL_CLIP) {
        node->real[0] = mg_dnnl_real(attrs, MG_DNNL_A_MIN);
        node->real[1] = mg_dnnl_real(attrs, MG_DNNL_A_MAX);
    }
}
