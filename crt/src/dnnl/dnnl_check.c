/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/dnnl_check.h"

#include "dnnl/dnnl_window_check.h"

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

/* The size of axis `i`, counted from the last one, of a broadcast operand; 1 if it has no such
 * axis. */
static int32_t dim_from_end(const mg_dnnl_node *node, uint32_t i)
{
    return i < node->ndim ? node->dims[node->ndim - 1U - i] : 1;
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
        const int32_t a = dim_from_end(lhs, i);
        const int32_t b = dim_from_end(rhs, i);
        mg_dnnl_require(attrs,
                        (a == b || a == 1 || b == 1) && dim_from_end(node, i) == (a == 1 ? b : a));
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

static void check_same(const mg_dnnl_graph *graph, const mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    mg_dnnl_require(attrs, mg_dnnl_same_shape(mg_dnnl_input(graph, node, 0U), node));
}

static void check_by_operator(const mg_dnnl_graph *graph, mg_dnnl_node *node, mg_dnnl_attrs *attrs)
{
    switch (node->op) {
    case MG_DNNL_CONV2D:
        mg_dnnl_check_conv2d(graph, node, attrs);
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
            mg_dnnl_check_pool2d(graph, node, attrs);
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
