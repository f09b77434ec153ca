/* SPDX-License-Identifier: Apache-2.0 */
/* 2-D depthwise convolution of one or two rows of results, int8, 3x3, for cores with the DSP
 * extension: a row of windows is copied as columns of int16
 * (microgen/depthwise/filters_columns_s8.h). That costs less than planes if most rows of these are
 * used once. */
#ifndef MICROGEN_DEPTHWISE_CONV2D_S8_COLUMNS_H
#define MICROGEN_DEPTHWISE_CONV2D_S8_COLUMNS_H

#include <string.h>

#include "microgen/depthwise/depthwise_conv2d_s8.h"
#include "microgen/depthwise/filters_columns_s8.h"
#include "microgen/out_of_line.h"
#include "microgen/requantization/scaling_s8.h"

typedef mg_depthwise_conv2d_s8_params mg_depthwise_conv2d_s8_columns_params;

/* GCC would make a copy for operators of one shape. */
#if defined(__GNUC__) && !defined(__clang__)
#define MG_COLUMNS_ATTRIBUTES __attribute__((noinline, noclone, unused))
#else
#define MG_COLUMNS_ATTRIBUTES __attribute__((noinline, unused))
#endif

/* `count` outputs of a row, which begin with output `first`, of all channels. `rows` are the three
 * rows of the windows. The last four channels have filters of their own. It is out of line, because
 * operators share it, and named so that its bytes are counted as the kernel's. */
static MG_COLUMNS_ATTRIBUTES void
mg_depthwise_conv2d_s8_linear_columns_part(const mg_depthwise_conv2d_s8_params *p,
                                           const int8_t *const *rows,
                                           const mg_columns_scales *scales, int8_t *output,
                                           uint32_t *columns, int32_t first, int32_t count)
{
    const int32_t depth = p->input_channels;
    const int32_t left = first * p->stride_width - p->pad_left;
    const int32_t end = left + (count - 1) * p->stride_width + MG_3X3_SIDE;
    const int32_t inside = (end < p->input_width) ? end : p->input_width;
    const int32_t after = (left > 0) ? left : 0;
    const int32_t begin = (after < end) ? after : end;
    const int32_t values = (inside > begin) ? inside - begin : 0;
    const uint32_t zero = mg_twice_s16(-p->input_offset);
    uint32_t *const to = &columns[MG_COLUMN * (begin - left)];
    const int32_t at = (values > 0) ? begin * depth : 0;
    mg_columns_blocks blocks = {{&rows[0][at], &rows[1][at], &rows[2][at]},
                                to,
                                to + MG_COLUMN * values,
                                0,
                                columns,
                                &output[first * depth],
                                scales->weight,
                                scales->bias,
                                scales->multiplier,
                                depth + 65536 * (count / 2 - 1),
                                depth / MG_PLANES,
                                depth,
                                count};

    mg_columns_clear(columns, begin - left, zero);
    mg_columns_clear(to + MG_COLUMN * values, end - begin - values, zero);
    mg_columns_filters(&blocks, p->stride_width);
    if (depth % MG_PLANES != 0) {
        const int32_t last = depth - MG_PLANES;
        blocks.channel = last;
        blocks.output += last;
        blocks.weight += MG_COLUMNS_TAPS * MG_PLANES * blocks.blocks;
        blocks.bias += last;
        blocks.multiplier += last;
        blocks.blocks = 1;
        mg_columns_filters(&blocks, p->stride_width);
    }
}

/* The row below the last window. */
MG_INLINE int32_t mg_columns_below(const mg_depthwise_conv2d_s8_columns_params *p)
{
    return (p->output_height - 1) * p->stride_height - p->pad_top + MG_3X3_SIDE;
}

/* Computes the same as mg_depthwise_conv2d_s8_body (microgen/depthwise/depthwise_conv2d_s8.h), with
 * MG_LINEAR.
 *
 * Filters are 3x3 without dilation, there are four channels or more, at most 65535, the depth
 * multiplier is 1, and strides along the width are 1 or 2.
 * weight has six words for each channel, as microgen/kernels/depthwise/depthwise_conv2d_columns.py
 * says. bias is that of MG_LINEAR, and contains the zero point of the data. scratch is aligned to 4
 * bytes, and has MG_COLUMN words for each column of the windows of a part of a row, and then, with
 * padding above or below, a row of the input's width.
 *
 * The output and the input may overlap as far as no part of a row of outputs ends after the first
 * value that is read for it, or for a later part. */
MG_BODY(mg_depthwise_conv2d_s8_columns, int32_t, uint8_t *scratch, int requantization)
{
    const mg_columns_scales scales = {weight, bias, multiplier};
    const int32_t row = p->input_width * p->input_channels;
    const int32_t line = p->output_width * p->input_channels;
    const int32_t most = MG_COLUMNS_PART / p->stride_width;
    const int32_t parts = (p->output_width - 1) / most + 1;
    const int32_t part = (p->output_width - 1) / parts + 1;
    const int32_t lines = p->batches * p->output_height;
    int8_t *const padding =
        (int8_t *)&scratch[4 * MG_COLUMN * ((part - 1) * p->stride_width + MG_3X3_SIDE)];
    int8_t *out = (int8_t *)output;

    (void)shift;
    (void)requantization;
    if ((p->pad_top > 0) || (mg_columns_below(p) > p->input_height)) {
        (void)memset(padding, -p->input_offset, (size_t)row);
    }
    for (int32_t n = 0; n < p->batches; n++) {
        for (int32_t y = 0; y < p->output_height; y++) {
            const int8_t *rows[MG_3X3_SIDE];
            for (int32_t i = 0; i < MG_3X3_SIDE; i++) {
                const int32_t place = y * p->stride_height - p->pad_top + i;
                const int32_t is_inside = (place >= 0) && (place < p->input_height);
                rows[i] = (is_inside != 0) ? &input[(n * p->input_height + place) * row] : padding;
            }
            for (int32_t x = 0; x < p->output_width; x += part) {
                const int32_t rest = p->output_width - x;
                mg_depthwise_conv2d_s8_linear_columns_part(p, rows, &scales, out,
                                                           (uint32_t *)(void *)scratch, x,
                                                           (rest < part) ? rest : part);
            }
            out += line;
        }
    }
    if ((p->activation_min != INT8_MIN) || (p->activation_max != INT8_MAX)) {
        out -= lines * line;
        for (int32_t i = 0; i < lines * line; i++) {
            out[i] = mg_offset_and_clamp(out[i], 0, p->activation_min, p->activation_max);
        }
    }
}

#define MG_DEPTHWISE_CONV2D_S8_COLUMNS_PROTOTYPE(name)                                             \
    MG_PROTOTYPE_SCRATCH(name, mg_depthwise_conv2d_s8_columns, int32_t)
#define MG_DEPTHWISE_CONV2D_S8_COLUMNS_KERNEL(name, ...)                                           \
    MG_KERNEL_SCRATCH(name, mg_depthwise_conv2d_s8_columns, int32_t, __VA_ARGS__)

#endif
