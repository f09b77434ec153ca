/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/dnnl_operators.h"

#include "microgen/convolution/conv2d_strided_f32.h"
#include "microgen/dense/batch_matmul.h"
#include "microgen/dense/dense_f32.h"
#include "microgen/elementwise/arithmetic_f32.h"
#include "microgen/pooling/pool2d_strided_f32.h"
#include "microgen/reductions/softmax_f32.h"
#include "microgen/unary/clip.h"
#include "microgen/unary/unary_f32.h"

static float infinity(void)
{
    return mg_f32_of_bits(MG_F32_INFINITY);
}

/* A tensor viewed as [outer][channels][inner] for one axis, the channels. */
typedef struct {
    int32_t outer;
    int32_t channels;
    int32_t inner;
} folded;

static folded fold(const mg_dnnl_node *node, uint32_t axis)
{
    const folded result = {mg_dnnl_product(node, 0U, axis), node->dims[axis],
                           mg_dnnl_product(node, axis + 1U, node->ndim)};
    return result;
}

/* Functions of one value, which may work in place. */

static void clamp(int32_t size, float low, float high, const float *input, float *output)
{
    const mg_clip_f32_params p = {size, low, high};

    mg_clip_f32_body(&p, input, output);
}

static void leak(int32_t size, float alpha, const float *input, float *output)
{
    const mg_leaky_relu_f32_params p = {size, alpha};

    mg_leaky_relu_f32_body(&p, input, output);
}

static void swish(int32_t size, const float *input, float *output)
{
    int32_t i;

    for (i = 0; i < size; i++) {
        output[i] = input[i] * mg_f32_sigmoid(input[i]);
    }
}

static void map(const mg_dnnl_node *node, uint8_t function, const float *input, float *output)
{
    const mg_unary_params p = {mg_dnnl_elements(node)};

    switch (function) {
    case MG_DNNL_RELU:
        clamp(p.size, 0.0F, infinity(), input, output);
        break;
    case MG_DNNL_TANH:
        mg_tanh_f32_body(&p, input, output);
        break;
    case MG_DNNL_SIGMOID:
        mg_sigmoid_f32_body(&p, input, output);
        break;
    case MG_DNNL_CLIP:
        clamp(p.size, node->real[0], node->real[1], input, output);
        break;
    case MG_DNNL_ABS:
        mg_abs_f32_body(&p, input, output);
        break;
    case MG_DNNL_EXP:
        mg_exp_f32_body(&p, input, output);
        break;
    case MG_DNNL_LOG:
        mg_log_f32_body(&p, input, output);
        break;
    case MG_DNNL_SQRT:
        mg_sqrt_f32_body(&p, input, output);
        break;
    case MG_DNNL_LEAKY_RELU:
        leak(p.size, node->real[0], input, output);
        break;
    case MG_DNNL_SWISH:
        swish(p.size, input, output);
        break;
    default: /* no activation */
        break;
    }
}

/* Sums and products */

/* The operand's elements between neighbouring indices on each axis of the result; 0: broadcast. The
 * operand's missing axes are the first ones. */
static void operand_steps(const mg_dnnl_node *operand, int32_t steps[MG_DNNL_MAX_DIMS])
{
    int32_t step = 1;
    uint32_t i;

    for (i = MG_DNNL_MAX_DIMS; i > 0U; i--) {
        const uint32_t from_end = MG_DNNL_MAX_DIMS - i;
        const int32_t dim = mg_dnnl_dim_from_end(operand, from_end);
        steps[i - 1U] = dim > 1 ? step : 0;
        step *= dim;
    }
}

/* The kernels handle the innermost four axes, and this function iterates over the two before
 * them. */
static void combine(const mg_dnnl_graph *graph, const mg_dnnl_node *node, const float *lhs,
                    const float *rhs, float *output)
{
    int32_t left[MG_DNNL_MAX_DIMS];
    int32_t right[MG_DNNL_MAX_DIMS];
    int32_t own[MG_DNNL_MAX_DIMS] = {1, 1, 1, 1, 1, 1};
    mg_arithmetic_f32_params p;
    uint32_t i;
    int32_t a;
    int32_t b;

    operand_steps(mg_dnnl_input(graph, node, 0U), left);
    operand_steps(mg_dnnl_input(graph, node, 1U), right);
    for (i = 0U; i < node->ndim; i++) {
        own[MG_DNNL_MAX_DIMS - node->ndim + i] = node->dims[i];
    }
    for (i = 0U; i < 4U; i++) {
        p.shape[i] = own[i + 2U];
        p.lhs_stride[i] = left[i + 2U];
        p.rhs_stride[i] = right[i + 2U];
    }
    p.activation_min = -infinity();
    p.activation_max = infinity();
    for (a = 0; a < own[0]; a++) {
        for (b = 0; b < own[1]; b++) {
            const float *const x = &lhs[a * left[0] + b * left[1]];
            const float *const y = &rhs[a * right[0] + b * right[1]];
            float *const z = &output[(a * own[1] + b) * own[2] * own[3] * own[4] * own[5]];
            if (node->op == MG_DNNL_ADD) {
                mg_add_f32_body(&p, x, y, z);
            } else {
                mg_multiply_f32_body(&p, x, y, z);
            }
        }
    }
}

static void add_channels(const mg_dnnl_node *node, const float *bias, float *output)
{
    const folded shape = fold(node, node->axis);
    int32_t o;
    int32_t c;
    int32_t i;

    for (o = 0; o < shape.outer; o++) {
        for (c = 0; c < shape.channels; c++) {
            for (i = 0; i < shape.inner; i++) {
                *output++ += bias[c];
            }
        }
    }
}

/* Applies in this order: the bias, the sum with a tensor of the same shape, the activation. */
static void fuse(const mg_dnnl_node *node, const float *const *inputs, float *output)
{
    const int32_t size = mg_dnnl_elements(node);
    int32_t i;

    if ((node->fused & MG_DNNL_BIAS) != 0U) {
        add_channels(node, inputs[2], output);
    }
    if ((node->fused & MG_DNNL_SUM) != 0U) {
        const float *const other = inputs[node->num_inputs - 1U];
        for (i = 0; i < size; i++) {
            output[i] += other[i];
        }
    }
    map(node, node->activation, output, output);
}

/* Windows over images, in any layout */

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

    shape.batches = mg_dnnl_dim(data, node->layout, MG_DNNL_BATCH_AXIS);
    shape.input_channels = mg_dnnl_dim(data, node->layout, MG_DNNL_CHANNELS_AXIS);
    shape.input_height = mg_dnnl_dim(data, node->layout, MG_DNNL_ROWS_AXIS);
    shape.input_width = mg_dnnl_dim(data, node->layout, MG_DNNL_COLUMNS_AXIS);
    shape.output_channels = mg_dnnl_dim(node, node->out_layout, MG_DNNL_CHANNELS_AXIS);
    shape.output_height = mg_dnnl_dim(node, node->out_layout, MG_DNNL_ROWS_AXIS);
    shape.output_width = mg_dnnl_dim(node, node->out_layout, MG_DNNL_COLUMNS_AXIS);
    shape.stride_height = node->stride[0];
    shape.stride_width = node->stride[1];
    shape.dilation_height = node->dilation[0];
    shape.dilation_width = node->dilation[1];
    shape.pad_top = node->padding[0];
    shape.pad_left = node->padding[1];
    return shape;
}

static void run_conv2d(const mg_dnnl_node *node, const mg_dnnl_node *data,
                       const mg_dnnl_node *weight, const float *input, const float *filters,
                       float *output)
{
    mg_conv2d_strided_f32_params p;

    p.shape = shape_of(node, data);
    p.shape.kernel_height = mg_dnnl_dim(weight, node->kernel_layout, MG_DNNL_ROWS_AXIS);
    p.shape.kernel_width = mg_dnnl_dim(weight, node->kernel_layout, MG_DNNL_COLUMNS_AXIS);
    p.shape.filter_channels = mg_dnnl_dim(weight, node->kernel_layout, MG_DNNL_CHANNELS_AXIS);
    p.input = steps(data, node->layout);
    p.weight = steps(weight, node->kernel_layout);
    p.output = steps(node, node->out_layout);
    mg_conv2d_strided_f32_body(&p, input, filters, output);
}

static void run_pool2d(const mg_dnnl_node *node, const mg_dnnl_node *data, const float *input,
                       float *output)
{
    const bool is_global = mg_dnnl_is_global(node);
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

/* Layers */

static void dense(const mg_dnnl_graph *graph, const mg_dnnl_node *node, const float *input,
                  const float *weight, float *output)
{
    const mg_dnnl_node *const weights = mg_dnnl_input(graph, node, 1U);
    const mg_dense_f32_params p = {mg_dnnl_product(node, 0U, node->axis), weights->dims[1],
                                   weights->dims[0], -infinity(), infinity()};

    mg_dense_f32_body(&p, input, weight, NULL, output);
}

static void batch_matmul(const mg_dnnl_graph *graph, const mg_dnnl_node *node, const float *lhs,
                         const float *rhs, float *output)
{
    const mg_dnnl_node *const left = mg_dnnl_input(graph, node, 0U);
    const mg_dnnl_node *const right = mg_dnnl_input(graph, node, 1U);
    const bool a = (node->flags & MG_DNNL_TRANSPOSES_A) != 0U;
    const bool b = (node->flags & MG_DNNL_TRANSPOSES_B) != 0U;
    mg_batch_matmul_f32_params p = {{{1, 1, node->dims[0]},
                                     node->dims[1],
                                     left->dims[a ? 1 : 2],
                                     node->dims[2],
                                     {0, 0, 0},
                                     a ? 1 : left->dims[2],
                                     a ? left->dims[2] : 1,
                                     {0, 0, 0},
                                     b ? 1 : right->dims[2],
                                     b ? right->dims[2] : 1}};

    p.shape.lhs_stride[2] = left->dims[0] > 1 ? mg_dnnl_product(left, 1U, 3U) : 0;
    p.shape.rhs_stride[2] = right->dims[0] > 1 ? mg_dnnl_product(right, 1U, 3U) : 0;
    mg_batch_matmul_f32_body(&p, lhs, rhs, output);
}

/* Computes x * factor + offset per channel, with factor = gamma / sqrt(variance + epsilon) and
 * offset = beta - mean * factor. */
static void batch_norm(const mg_dnnl_node *node, const float *const *inputs, float *output)
{
    const folded shape = fold(node, node->axis);
    const float *const gamma = inputs[1];
    const float *const beta = inputs[2];
    const float *const mean = inputs[3];
    const float *const variance = inputs[4];
    const float *x = inputs[0];
    int32_t o;
    int32_t c;
    int32_t i;

    for (o = 0; o < shape.outer; o++) {
        for (c = 0; c < shape.channels; c++) {
            const float root = mg_f32_rsqrt(variance[c] + node->real[0]);
            const float factor = (node->flags & MG_DNNL_IS_SCALED) != 0U ? root * gamma[c] : root;
            const float center = (node->flags & MG_DNNL_IS_CENTERED) != 0U ? beta[c] : 0.0F;
            const float offset = center - mean[c] * factor;
            for (i = 0; i < shape.inner; i++) {
                *output++ = *x++ * factor + offset;
            }
        }
    }
}

static void softmax(const mg_dnnl_node *node, const float *input, float *output)
{
    const folded shape = fold(node, node->axis);

    mg_softmax_axis_f32_body(shape.outer, shape.channels, shape.inner, input, output);
}

void mg_dnnl_compute(const mg_dnnl_graph *graph, const mg_dnnl_node *node,
                     const float *const inputs[MG_DNNL_MAX_INPUTS], float *output)
{
    const mg_dnnl_node *const data = mg_dnnl_input(graph, node, 0U);

    switch (node->op) {
    case MG_DNNL_CONV2D:
        run_conv2d(node, data, mg_dnnl_input(graph, node, 1U), inputs[0], inputs[1], output);
        fuse(node, inputs, output);
        break;
    case MG_DNNL_DENSE:
        dense(graph, node, inputs[0], inputs[1], output);
        fuse(node, inputs, output);
        break;
    case MG_DNNL_BATCH_MATMUL:
        batch_matmul(graph, node, inputs[0], inputs[1], output);
        break;
    case MG_DNNL_ADD:
    case MG_DNNL_MULTIPLY:
        combine(graph, node, inputs[0], inputs[1], output);
        break;
    case MG_DNNL_BATCH_NORM:
        batch_norm(node, inputs, output);
        break;
    case MG_DNNL_MAX_POOL2D:
    case MG_DNNL_AVG_POOL2D:
    case MG_DNNL_GLOBAL_MAX_POOL2D:
    case MG_DNNL_GLOBAL_AVG_POOL2D:
        run_pool2d(node, data, inputs[0], output);
        break;
    case MG_DNNL_SOFTMAX:
        softmax(node, inputs[0], output);
        break;
    default:
        map(node, node->op, inputs[0], output);
        break;
    }
}
