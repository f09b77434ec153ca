/* SPDX-License-Identifier: Apache-2.0 */
#include "accelerator/accelerator_commands.h"

#include "tvm/runtime/crt/error_codes.h"

#include <stddef.h>

#define LARGEST_PRODUCT (255U * 128U) /* of a value with its offset and a weight */

static bool is_within(int32_t value, int32_t low, int32_t high)
{
    return low <= value && value <= high;
}

/* Whether the operand has the same number of bytes as a tensor of that shape. */
static bool has_shape(const mg_accelerator_operand *operand, int32_t n, int32_t h, int32_t w,
                      int32_t c)
{
    const int32_t shape[4] = {n, h, w, c};
    uint64_t size = 1U;
    uint32_t i;

    for (i = 0U; i < 4U; i++) {
        if (!is_within(shape[i], 1, MG_ACCELERATOR_MAX_TENSOR)) {
            return false;
        }
        size *= (uint64_t)shape[i];
        if (size > operand->bytes) {
            return false;
        }
    }
    return size == operand->bytes;
}

static bool is_scale(int32_t multiplier, int32_t shift)
{
    return multiplier >= 0 && is_within(shift, -31, 30);
}

static bool is_stored_zero(int32_t offset)
{
    return is_within(offset, INT8_MIN, INT8_MAX);
}

/* Whether the value is minus a zero point. */
static bool is_offset(int32_t offset)
{
    return is_within(offset, -INT8_MAX, -INT8_MIN);
}

static bool is_clamp(int32_t low, int32_t high)
{
    return is_within(low, INT8_MIN, INT8_MAX) && is_within(high, low, INT8_MAX);
}

/* Whether the operand is `count` constants of 4 bytes. */
static bool is_table(const mg_accelerator_operand *operand, int32_t count)
{
    return operand->is_constant && (uintptr_t)operand->read % 4U == 0U &&
           has_shape(operand, 1, 1, count, 4);
}

/* Whether the operand is absent, or a bias whose sum with `terms` products fits int32. */
static bool is_bias(const mg_accelerator_operand *operand, int32_t count, uint64_t terms)
{
    const int32_t *const bias = operand->read;
    const uint64_t products = terms * LARGEST_PRODUCT;
    int32_t room;
    int32_t i;

    if (products > INT32_MAX) {
        return false;
    }
    if (bias == NULL) {
        return true;
    }
    if (!is_table(operand, count)) {
        return false;
    }
    room = INT32_MAX - (int32_t)products;
    for (i = 0; i < count; i++) {
        if (!is_within(bias[i], -room, room)) {
            return false;
        }
    }
    return true;
}

static bool are_scales(const mg_accelerator_operand *multipliers,
                       const mg_accelerator_operand *shifts, int32_t count)
{
    const int32_t *const multiplier = multipliers->read;
    const int8_t *const shift = shifts->read;
    int32_t i;

    if (!is_table(multipliers, count) || !shifts->is_constant ||
        !has_shape(shifts, 1, 1, 1, count)) {
        return false;
    }
    for (i = 0; i < count; i++) {
        if (!is_scale(multiplier[i], shift[i])) {
            return false;
        }
    }
    return true;
}

/* Whether all elements at these strides are inside the operand. */
static bool is_strided(const mg_accelerator_operand *operand, const int32_t shape[4],
                       const int32_t stride[4])
{
    uint64_t last = 0U;
    uint32_t i;

    for (i = 0U; i < 4U; i++) {
        if (!is_within(stride[i], 0, MG_ACCELERATOR_MAX_TENSOR)) {
            return false;
        }
        last += (uint64_t)(shape[i] - 1) * (uint64_t)stride[i];
    }
    return last < operand->bytes;
}

static bool is_broadcast(const mg_accelerator_operand operands[3], const int32_t shape[4],
                         const int32_t lhs_stride[4], const int32_t rhs_stride[4])
{
    return has_shape(&operands[2], shape[0], shape[1], shape[2], shape[3]) &&
           is_strided(&operands[0], shape, lhs_stride) &&
           is_strided(&operands[1], shape, rhs_stride);
}

static bool is_add(const mg_accelerator_command *command)
{
    mg_add_s8_params p;

    MG_ACCELERATOR_DECODE(command, p);
    return is_broadcast(command->operands, p.shape, p.lhs_stride, p.rhs_stride) &&
           is_offset(p.lhs_offset) && is_offset(p.rhs_offset) && is_stored_zero(p.output_offset) &&
           is_within(p.left_shift, 0, 22) && is_scale(p.lhs_multiplier, p.lhs_shift) &&
           is_scale(p.rhs_multiplier, p.rhs_shift) && p.lhs_shift <= 0 && p.rhs_shift <= 0 &&
           is_scale(p.output_multiplier, p.output_shift) &&
           is_clamp(p.activation_min, p.activation_max);
}

static bool is_multiply(const mg_accelerator_command *command)
{
    mg_multiply_s8_params p;

    MG_ACCELERATOR_DECODE(command, p);
    return is_broadcast(command->operands, p.shape, p.lhs_stride, p.rhs_stride) &&
           is_offset(p.lhs_offset) && is_offset(p.rhs_offset) && is_stored_zero(p.output_offset) &&
           is_scale(p.multiplier, p.shift) && is_clamp(p.activation_min, p.activation_max);
}

static bool is_clip(const mg_accelerator_command *command)
{
    mg_clip_s8_params p;

    MG_ACCELERATOR_DECODE(command, p);
    return has_shape(&command->operands[0], 1, 1, 1, p.size) &&
           has_shape(&command->operands[1], 1, 1, 1, p.size) && is_offset(p.input_offset) &&
           is_stored_zero(p.output_offset) && is_scale(p.multiplier, p.shift) &&
           is_clamp(p.activation_min, p.activation_max);
}

static bool is_lookup(const mg_accelerator_command *command)
{
    mg_lookup_s8_params p;

    MG_ACCELERATOR_DECODE(command, p);
    return has_shape(&command->operands[0], 1, 1, 1, p.size) &&
           has_shape(&command->operands[1], 1, 1, 1, 256) &&
           has_shape(&command->operands[2], 1, 1, 1, p.size);
}

/* A window along one axis. */
typedef struct {
    int32_t input;
    int32_t output;
    int32_t taps;
    int32_t stride;
    int32_t dilation;
    int32_t pad;
} axis;

static bool is_axis(axis a)
{
    return is_within(a.input, 1, MG_ACCELERATOR_MAX_EXTENT) &&
           is_within(a.output, 1, MG_ACCELERATOR_MAX_EXTENT) &&
           is_within(a.taps, 1, MG_ACCELERATOR_MAX_EXTENT) &&
           is_within(a.stride, 1, MG_ACCELERATOR_MAX_EXTENT) &&
           is_within(a.dilation, 1, MG_ACCELERATOR_MAX_EXTENT) &&
           is_within(a.pad, 0, MG_ACCELERATOR_MAX_EXTENT);
}

/* The same for pooling. Each window must also have a tap inside the input, because means are
 * divided by the number of these taps. */
static bool is_pooled_axis(axis a)
{
    return is_axis(a) && a.pad < a.taps && (a.output - 1) * a.stride - a.pad < a.input;
}

static bool is_pool(const mg_accelerator_command *command)
{
    mg_pool_params p;

    MG_ACCELERATOR_DECODE(command, p);
    {
        const axis rows = {p.input_height, p.output_height, p.pool_height, p.stride_height, 1,
                           p.pad_top};
        const axis columns = {p.input_width, p.output_width, p.pool_width, p.stride_width, 1,
                              p.pad_left};

        return is_pooled_axis(rows) && is_pooled_axis(columns) &&
               has_shape(&command->operands[0], p.batches, p.input_height, p.input_width,
                         p.channels) &&
               has_shape(&command->operands[1], p.batches, p.output_height, p.output_width,
                         p.channels) &&
               is_clamp(p.activation_min, p.activation_max);
    }
}

/* Whether the operands of a layer with weights are valid, except for the data and the weights'
 * shape. */
static bool are_weighted(const mg_accelerator_operand operands[6], int32_t channels, int32_t scales,
                         uint64_t terms)
{
    return operands[1].is_constant && is_bias(&operands[2], channels, terms) &&
           are_scales(&operands[3], &operands[4], scales);
}

static bool is_dense(const mg_accelerator_command *command)
{
    const mg_accelerator_operand *const operands = command->operands;
    mg_dense_s8_params p;

    MG_ACCELERATOR_DECODE(command, p);
    return has_shape(&operands[0], 1, 1, p.batches, p.input_features) &&
           has_shape(&operands[1], 1, 1, p.output_features, p.input_features) &&
           has_shape(&operands[5], 1, 1, p.batches, p.output_features) &&
           is_within(p.per_channel, 0, 1) &&
           are_weighted(operands, p.output_features, (p.per_channel != 0) ? p.output_features : 1,
                        (uint64_t)p.input_features) &&
           is_offset(p.input_offset) && is_stored_zero(p.output_offset) &&
           is_clamp(p.activation_min, p.activation_max);
}

static bool is_conv2d(const mg_accelerator_command *command)
{
    const mg_accelerator_operand *const operands = command->operands;
    mg_conv2d_s8_params p;

    MG_ACCELERATOR_DECODE(command, p);
    {
        const axis rows = {p.input_height,  p.output_height,   p.kernel_height,
                           p.stride_height, p.dilation_height, p.pad_top};
        const axis columns = {p.input_width,  p.output_width,   p.kernel_width,
                              p.stride_width, p.dilation_width, p.pad_left};

        return is_axis(rows) && is_axis(columns) &&
               has_shape(&operands[0], p.batches, p.input_height, p.input_width,
                         p.input_channels) &&
               has_shape(&operands[1], p.output_channels, p.kernel_height, p.kernel_width,
                         p.filter_channels) &&
               has_shape(&operands[5], p.batches, p.output_height, p.output_width,
                         p.output_channels) &&
               p.input_channels % p.filter_channels == 0 &&
               p.output_channels % (p.input_channels / p.filter_channels) == 0 &&
               are_weighted(operands, p.output_channels, p.output_channels,
                            (uint64_t)operands[1].bytes / (uint64_t)p.output_channels) &&
               is_offset(p.input_offset) && is_stored_zero(p.output_offset) &&
               is_clamp(p.activation_min, p.activation_max);
    }
}

static bool is_depthwise_conv2d(const mg_accelerator_command *command)
{
    const mg_accelerator_operand *const operands = command->operands;
    mg_depthwise_conv2d_s8_params p;

    MG_ACCELERATOR_DECODE(command, p);
    {
        const axis rows = {p.input_height,  p.output_height,   p.kernel_height,
                           p.stride_height, p.dilation_height, p.pad_top};
        const axis columns = {p.input_width,  p.output_width,   p.kernel_width,
                              p.stride_width, p.dilation_width, p.pad_left};
        const bool is_deep = is_within(p.input_channels, 1, MG_ACCELERATOR_MAX_EXTENT) &&
                             is_within(p.depth_multiplier, 1, MG_ACCELERATOR_MAX_EXTENT);
        const int32_t channels = is_deep ? p.input_channels * p.depth_multiplier : 0;

        return is_axis(rows) && is_axis(columns) &&
               has_shape(&operands[0], p.batches, p.input_height, p.input_width,
                         p.input_channels) &&
               has_shape(&operands[1], 1, p.kernel_height, p.kernel_width, channels) &&
               has_shape(&operands[5], p.batches, p.output_height, p.output_width, channels) &&
               are_weighted(operands, channels, channels,
                            (uint64_t)p.kernel_height * (uint64_t)p.kernel_width) &&
               is_offset(p.input_offset) && is_stored_zero(p.output_offset) &&
               is_clamp(p.activation_min, p.activation_max);
    }
}

/* The numbers of operands and parameters of each command, by opcode. Only the bias may be
 * absent. */
static const struct {
    uint32_t operands;
    size_t bytes;
} forms[] = {
    {0U, 0U},
    {3U, sizeof(mg_add_s8_params)},
    {3U, sizeof(mg_multiply_s8_params)},
    {2U, sizeof(mg_clip_s8_params)},
    {3U, sizeof(mg_lookup_s8_params)},
    {2U, sizeof(mg_max_pool2d_s8_params)},
    {2U, sizeof(mg_avg_pool2d_s8_params)},
    {6U, sizeof(mg_dense_s8_params)},
    {6U, sizeof(mg_conv2d_s8_params)},
    {6U, sizeof(mg_depthwise_conv2d_s8_params)},
    {6U, sizeof(mg_dense_s8_params)},
};

static bool has_form(const mg_accelerator_command *command)
{
    const uint32_t n = forms[command->opcode].operands;
    uint32_t i;

    if (command->n_operands != n ||
        command->n_parameters * sizeof(int32_t) != forms[command->opcode].bytes) {
        return false;
    }
    for (i = 0U; i < n; i++) {
        if (command->operands[i].read == NULL && i != 2U) {
            return false;
        }
    }
    return command->operands[n - 1U].write != NULL;
}

static bool is_valid(const mg_accelerator_command *command)
{
    switch (command->opcode) {
    case MG_ACCELERATOR_ADD:
        return is_add(command);
    case MG_ACCELERATOR_MULTIPLY:
        return is_multiply(command);
    case MG_ACCELERATOR_CLIP:
        return is_clip(command);
    case MG_ACCELERATOR_LOOKUP:
        return is_lookup(command);
    case MG_ACCELERATOR_MAX_POOL2D:
    case MG_ACCELERATOR_AVG_POOL2D:
        return is_pool(command);
    case MG_ACCELERATOR_DENSE:
    case MG_ACCELERATOR_DENSE_TWICE:
        return is_dense(command);
    case MG_ACCELERATOR_CONV2D:
        return is_conv2d(command);
    default:
        return is_depthwise_conv2d(command);
    }
}

int32_t mg_accelerator_check(const mg_accelerator_command *command)
{
    if (!is_within((int32_t)command->opcode, MG_ACCELERATOR_ADD, MG_ACCELERATOR_DENSE_TWICE)) {
        return kTvmErrorExecutorGraphUnsupported;
    }
    return (has_form(command) && is_valid(command)) ? kTvmErrorNoError
                                                    : kTvmErrorExecutorGraphMalformed;
}
