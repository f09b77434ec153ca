/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/dnnl_windows.h"

#include "microgen/convolution/conv2d_strided_f32.h"
#include "microgen/pooling/pool2d_strided_f32.h"

uint32_t mg_dnnl_axis_of(uint8_t layout, uint32_t letter)
{
    return (uint32_t)layout >> (2U * letter) & 3U;
}

static int32_t dim(const mg_dnnl_node *node, uint8_t layout, uint32_t letter)
{
    return node->dims[mg_dnnl_axis_of(layout, letter)];
}

static int32_t step(const mg_dnnl_node *node, uint8_t layout, uint32_t letter)
{
    return mg_dnnl_product(node, mg_dnnl_axis_of(layout, letter) + 1U, 4U);
}

static mg_image_steps steps(const mg_dnnl_node *node, uint8_t layout)
{
    const mg_image_steps result = {
        step(node, layout, MG_DNNL_BATCH_AXIS), step(node, layout, MG_DNNL_CHANNELS_AXIS),
        step(node, layout, MG_DNNL_ROWS_AXIS), step(node, layout, MG_DNNL_COLUMNS_AXIS)};
    return result;
}

/* All fields except those that depend on the kernel. */
static mg_conv2d_shape shape_of(const mg_dnnl_node *node, const mg_dnnl_node *data)
{
    mg_conv2d_shape shape = {0};

    shape.batches = dim(data, node->layout, MG_DNNL_BATCH_AXIS);
    shape.input_channels = dim(data, node->layout, MG_DNNL_CHANNELS_AXIS);
    shape.input_height = dim(data, node->layout, MG_DNNL_ROWS_AXIS);
    shape.input_width = dim(data, node->layout, MG_DNNL_COLUMNS_AXIS);
    shape.output_channels = dim(node, node->out_layout, MG_DNNL_CHANNELS_AXIS);
    shape.output_height = dim(node, node->out_layout, MG_DNNL_ROWS_AXIS);
    shape.output_width = dim(node, node->out_layout, MG_DNNL_COLUMNS_AXIS);
    shape.stride_height = node->stride[0];
    shape.stride_width = node->stride[1];
    shape.dilation_height = node->dilation[0];
    shape.dilation_width = node->dilation[1];
    shape.pad_top = node->padding[0];
    shape.pad_left = node->padding[1];
    return shape;
}

void mg_dnnl_run_conv2d(const mg_dnnl_node *node, const mg_dnnl_node *data,
                        const mg_dnnl_node *weight, const float *input, const float *filters,
                        float *output)
{
    mg_conv2d_strided_f32_params p;

    p.shape = shape_of(node, data);
    p.shape.kernel_height = dim(weight, node->kernel_layout, MG_DNNL_ROWS_AXIS);
    p.shape.kernel_width = dim(weight, node->kernel_layout, MG_DNNL_COLUMNS_AXIS);
    p.shape.filter_channels = dim(weight, node->kernel_layout, MG_DNNL_CHANNELS_AXIS);
    p.input = steps(data, node->layout);
    p.weight = steps(weight, node->kernel_layout);
    p.output = steps(node, node->out_layout);
    mg_conv2d_strided_f32_body(&p, input, filters, output);
}

void mg_dnnl_run_pool2d(const mg_dnnl_node *node, const mg_dnnl_node *data, const float *input,
                        float *output)
{
    const bool is_global =
        node->op == MG_DNNL_GLOBAL_MAX_POOL2D || node->op == MG_DNNL_GLOBAL_AVG_POOL2D;
    mg_pool2d_strided_f32_params p;

    p.shape = shape_of(node, data);
    p.shape.kernel_height = is_global ? p.shape.input_height : node->pool[0];
    p.shape.kernel_width = is_global ? p.shape.input_width : node->pool[1];
    p.input = steps(data, node->layout);
    p.output = steps(node, node->out_layout);
    p.is_maximum = node->op == MG_DNNL_MAX_POOL2D || node->op == MG_DNNL_GLOBAL_MAX_POOL2D;
    p.includes_padding = node->flags & MG_DNNL_INCLUDES_PADDING;
    mg_pool2d_strided_f32_body(&p, input, output);
}
