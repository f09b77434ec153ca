/* SPDX-License-Identifier: Apache-2.0 */
/* Transposed 2-D convolution, int8 with int32 accumulators. */
#ifndef MICROGEN_CONV2D_TRANSPOSE_S8_H
#define MICROGEN_CONV2D_TRANSPOSE_S8_H

#include <stddef.h>

#include "microgen/blocks/blocks_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"
#include "microgen/window.h"

typedef struct {
    MG_IMAGE_SIZES(input_channels)
    int32_t output_channels;
    int32_t kernel_height;
    int32_t kernel_width;
    int32_t stride_height; /* between the positions of two pixels, 1 to 32767 */
    int32_t stride_width;  /* the same */
    int32_t crop_top;      /* rows of the full result above the output, at least 0 */
    int32_t crop_left;     /* columns of the full result before the output, at least 0 */
    MG_OFFSETS_AND_CLAMP
} mg_conv2d_transpose_s8_params;

/* The sum of products of one output channel's weights and the pixels that reach (at_y, at_x) of the
 * full result. Computing one output at a time needs no memory for sums, and the order of integer
 * additions does not matter. */
MG_INLINE int32_t mg_conv2d_transpose_s8_dot(const mg_conv2d_transpose_s8_params *p,
                                             const int8_t *input, const int8_t *weight,
                                             int32_t batch, int32_t output_channel, int32_t at_y,
                                             int32_t at_x)
{
    const mg_taps rows =
        mg_pixels_reaching(at_y, p->kernel_height, p->stride_height, p->input_height);
    const mg_taps columns =
        mg_pixels_reaching(at_x, p->kernel_width, p->stride_width, p->input_width);
    int32_t sum = 0;

    for (int32_t y = rows.begin; y < rows.end; y++) {
        for (int32_t x = columns.begin; x < columns.end; x++) {
            const int8_t *pixel =
                &input[mg_nhwc(batch, y, x, p->input_height, p->input_width, p->input_channels)];
            const int8_t *tap = &weight[mg_nhwc(output_channel, at_y - y * p->stride_height,
                                                at_x - x * p->stride_width, p->kernel_height,
                                                p->kernel_width, p->input_channels)];
            for (int32_t c = 0; c < p->input_channels; c++) {
                sum += (pixel[c] + p->input_offset) * tap[c];
            }
        }
    }
    return sum;
}

/* For every pixel (y, x) of input [batches][input_height][input_width][input_channels], adds its
 * product with weight [output_channels][kernel_height][kernel_width][input_channels] to the full
 * result at (y * stride_height, x * stride_width). Then writes the part of the full result that
 * begins at (crop_top, crop_left), requantized, to output
 * [batches][output_height][output_width][output_channels]. The output may reach beyond the full
 * result, which is 0 there.
 *
 * `requantization` is a constant of microgen/requantization/scaling_s8.h. multiplier and shift have
 * output_channels elements, or are NULL for MG_SUMS, whose outputs are the int32 sums. bias
 * [output_channels] may be NULL. Output must not overlap the input. The sum of bias and products
 * must fit int32, partial sums included. */
MG_BODY(mg_conv2d_transpose_s8, int8_t, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            for (int32_t x = 0; x < p->output_width; x++) {
                const int32_t pixel =
                    mg_nhwc(n, y, x, p->output_height, p->output_width, p->output_channels);
                for (int32_t c = 0; c < p->output_channels; c++) {
                    const int32_t sum = mg_conv2d_transpose_s8_dot(
                        p, input, weight, n, c, y + p->crop_top, x + p->crop_left);
                    const int32_t total = sum + ((bias != NULL) ? bias[c] : 0);
                    mg_store(&scaling, output, pixel + c, c, total, requantization);
                }
            }
        }
    }
}

#define MG_CONV2D_TRANSPOSE_S8_PROTOTYPE(name) MG_PROTOTYPE(name, mg_conv2d_transpose_s8, int8_t)
#define MG_CONV2D_TRANSPOSE_S8_KERNEL(name, ...)                                                   \
    MG_KERNEL(name, mg_conv2d_transpose_s8, int8_t, __VA_ARGS__)

/* Transposed 2-D convolution, int8, four output channels at a time. */

typedef mg_conv2d_transpose_s8_params mg_conv2d_transpose_s8_blocks_params;

/* The pixels of the input that reach one position of the output, and the tap of each. From one
 * pixel to the next the tap moves back by the stride. */
typedef struct {
    const int8_t *values; /* of the first pixel */
    const int8_t *weight; /* its tap in the first filter */
    int32_t rows;
    int32_t columns;
    int32_t value_row; /* from one row of pixels to the next */
    int32_t weight_row;
    int32_t weight_column;
} mg_conv2d_transpose_s8_reach;

MG_INLINE mg_conv2d_transpose_s8_reach
mg_conv2d_transpose_s8_reach_of(const mg_conv2d_transpose_s8_params *p, const int8_t *input,
                                const int8_t *weight, int32_t batch, int32_t at_y, int32_t at_x)
{
    const mg_taps rows =
        mg_pixels_reaching(at_y, p->kernel_height, p->stride_height, p->input_height);
    const mg_taps columns =
        mg_pixels_reaching(at_x, p->kernel_width, p->stride_width, p->input_width);
    const int32_t depth = p->input_channels;
    mg_conv2d_transpose_s8_reach reach = {input, weight, 0, 0, p->input_width * depth, 0, 0};

    if ((rows.begin < rows.end) && (columns.begin < columns.end)) {
        reach.values +=
            mg_nhwc(batch, rows.begin, columns.begin, p->input_height, p->input_width, depth);
        reach.weight +=
            mg_nhwc(0, at_y - rows.begin * p->stride_height, at_x - columns.begin * p->stride_width,
                    p->kernel_height, p->kernel_width, depth);
        reach.rows = rows.end - rows.begin;
        reach.columns = columns.end - columns.begin;
        /* A step is used only if there are two pixels, and then the stride is less than the
         * kernel. */
        reach.weight_row = (reach.rows > 1) ? p->stride_height * p->kernel_width * depth : 0;
        reach.weight_column = (reach.columns > 1) ? p->stride_width * depth : 0;
    }
    return reach;
}

/* sums + the products of the pixels with the weights of channels c to c + 3. A filter has `size`
 * weights. */
MG_INLINE mg_sums mg_conv2d_transpose_s8_dot_4(const mg_conv2d_transpose_s8_params *p,
                                               const mg_conv2d_transpose_s8_reach *reach,
                                               mg_sums sums, int32_t c, int32_t size, int loop)
{
    for (int32_t y = 0; y < reach->rows; y++) {
        for (int32_t x = 0; x < reach->columns; x++) {
            const int8_t *pixel = &reach->values[y * reach->value_row + x * p->input_channels];
            const int8_t *tap =
                &reach->weight[c * size - y * reach->weight_row - x * reach->weight_column];
            sums = mg_dot_4(sums, pixel, tap, size, p->input_channels, p->input_offset, loop);
        }
    }
    return sums;
}

/* The same for one channel. */
MG_INLINE int32_t mg_conv2d_transpose_s8_dot_1(const mg_conv2d_transpose_s8_params *p,
                                               const mg_conv2d_transpose_s8_reach *reach,
                                               int32_t sum, int32_t c, int32_t size)
{
    for (int32_t y = 0; y < reach->rows; y++) {
        for (int32_t x = 0; x < reach->columns; x++) {
            const int8_t *pixel = &reach->values[y * reach->value_row + x * p->input_channels];
            const int8_t *tap =
                &reach->weight[c * size - y * reach->weight_row - x * reach->weight_column];
            sum = mg_dot(sum, pixel, tap, p->input_channels, p->input_offset);
        }
    }
    return sum;
}

/* Computes the same as mg_conv2d_transpose_s8_body with the same arguments. `loop` is a
 * constant of microgen/blocks/blocks_s8.h. */
MG_BODY(mg_conv2d_transpose_s8_blocks, int8_t, int loop, int requantization)
{
    const mg_scaling scaling = MG_SCALING_OF(p, multiplier, shift);
    const int32_t channels = p->output_channels;
    const int32_t whole = channels - channels % 4;
    const int32_t size = p->kernel_height * p->kernel_width * p->input_channels;

    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            for (int32_t x = 0; x < p->output_width; x++) {
                const mg_conv2d_transpose_s8_reach reach = mg_conv2d_transpose_s8_reach_of(
                    p, input, weight, n, y + p->crop_top, x + p->crop_left);
                int8_t *out = (int8_t *)output +
                              mg_nhwc(n, y, x, p->output_height, p->output_width, channels);
                for (int32_t c = 0; c < whole; c += 4) {
                    mg_store_4(
                        &scaling, c,
                        mg_conv2d_transpose_s8_dot_4(p, &reach, mg_bias_4(bias, c), c, size, loop),
                        out, requantization);
                }
                for (int32_t c = whole; c < channels; c++) {
                    out[c] = mg_scaled(
                        &scaling, c,
                        mg_conv2d_transpose_s8_dot_1(p, &reach, mg_bias(bias, c), c, size),
                        requantization);
                }
            }
        }
    }
}

#define MG_CONV2D_TRANSPOSE_S8_BLOCKS_PROTOTYPE(name)                                              \
    MG_PROTOTYPE(name, mg_conv2d_transpose_s8_blocks, int8_t)
#define MG_CONV2D_TRANSPOSE_S8_BLOCKS_KERNEL(name, ...)                                            \
    MG_KERNEL(name, mg_conv2d_transpose_s8_blocks, int8_t, __VA_ARGS__)

#endif
