/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/dnnl_window_check.h"

#include "dnnl/dnnl_windows.h"

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

static int32_t dim(const mg_dnnl_node *node, uint8_t layout, uint32_t axis)
{
    return node->dims[mg_dnnl_axis_of(layout, axis)];
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
    const int32_t seen = dim(weight, node->kernel_layout, MG_DNNL_CHANNELS_AXIS);
    const int32_t channels = dim(data, node->layout, MG_DNNL_CHANNELS_AXIS);
    const int32_t filters = dim(weight, node->kernel_layout, MG_DNNL_BATCH_AXIS);

    mg_dnnl_require(attrs, groups > 0U && channels % seen == 0 &&
                               (uint32_t)(channels / seen) == groups &&
                               (uint32_t)filters % groups == 0U);
    mg_dnnl_require(attrs, filters == dim(node, node->out_layout, MG_DNNL_CHANNELS_AXIS));
    mg_dnnl_require(attrs, dim(data, node->layout, MG_DNNL_BATCH_AXIS) ==
                               dim(node, node->out_layout, MG_DNNL_BATCH_AXIS));
}

void mg_dnnl_check_conv2d(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
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
        taps[0] = dim(weight, node->kernel_layout, MG_DNNL_ROWS_AXIS);
        taps[1] = dim(weight, node->kernel_layout, MG_DNNL_COLUMNS_AXIS);
        check_channels(data, weight, node, groups, attrs);
        check_redundant(attrs, dim(weight, node->kernel_layout, MG_DNNL_BATCH_AXIS), taps);
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

void mg_dnnl_check_pool2d(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    const mg_dnnl_node *const data = mg_dnnl_input(graph, node, 0U);
    const bool is_global =
        node->op == MG_DNNL_GLOBAL_MAX_POOL2D || node->op == MG_DNNL_GLOBAL_AVG_POOL2D;
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
        taps[i] = is_global ? dim(data, node->layout, MG_DNNL_ROWS_AXIS + i) : node->pool[i];
    }
    mg_dnnl_require(attrs, dim(data, node->layout, MG_DNNL_BATCH_AXIS) ==
                               dim(node, node->out_layout, MG_DNNL_BATCH_AXIS));
    mg_dnnl_require(attrs, dim(data, node->layout, MG_DNNL_CHANNELS_AXIS) ==
                               dim(node, node->out_layout, MG_DNNL_CHANNELS_AXIS));
    check_windows(data, node, taps, padding, &is_exact, attrs);
    keep_padding(node, padding);
    if (!is_global) { /* rounding up would give another number of windows */
        mg_dnnl_support(attrs, mg_dnnl_flag(attrs, MG_DNNL_CEIL_MODE, 1U) == 0U || is_exact);
    }
}
